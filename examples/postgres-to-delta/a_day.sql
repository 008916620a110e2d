update helpdesk.tickets set state = 'closed' where random() < 0.05;

insert into helpdesk.tickets (subject) select 'New ticket ' || n from generate_series(1, 400) n;

insert into helpdesk.events (ticket, kind) select id, 'closed' from helpdesk.tickets where state = 'closed';
