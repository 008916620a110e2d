create schema helpdesk;

create table helpdesk.agents (
  id int primary key,
  name text not null,
  on_duty tstzrange
);

create table helpdesk.tickets (
  id uuid primary key default gen_random_uuid(),
  subject text not null,
  body text,
  state text not null default 'open',
  effort numeric(8, 2),
  labels text[] not null default '{}',
  updated_at timestamptz not null default now()
);
create index on helpdesk.tickets (updated_at);

create function helpdesk.touch() returns trigger language plpgsql as $$
begin
  new.updated_at := now();
  return new;
end $$;
create trigger touch before insert or update on helpdesk.tickets for each row execute function helpdesk.touch();

create table helpdesk.events (
  id bigint generated always as identity primary key,
  ticket uuid not null references helpdesk.tickets (id),
  kind text not null,
  facts jsonb not null default '{}',
  at timestamptz not null default clock_timestamp()
);

insert into helpdesk.agents
select n, 'Agent ' || n, tstzrange(now(), now() + interval '8 hours') from generate_series(1, 12) n;

insert into helpdesk.tickets (subject, body, effort, labels)
select 'Ticket ' || n, repeat('lorem ipsum ', 20), (random() * 40)::numeric(8, 2), array['level-' || n % 3]
from generate_series(1, 20000) n;

insert into helpdesk.events (ticket, kind, facts)
select id, (array['opened', 'assigned', 'answered', 'heartbeat'])[1 + (random() * 3)::int], jsonb_build_object('by', n)
from helpdesk.tickets, generate_series(1, 4) n;
