"""What the demo's shop is made of: people, places and coffee gear, with how often each turns up."""

from __future__ import annotations

FIRST = """
    Ada Alva Amina Anders Anna Arjun Astrid Ben Bruno Carla Chen Chloé Clara Dana David Diego Elena Elif Emil Emma
    Esther Farid Felix Fiona Freja George Grace Hana Hugo Ida Ines Ivan Jana Jonas José Julia Kaito Karim Lars Lea
    Leila Liam Lina Lucía Luis Maja Malik Marco Maria Maya Mei Mia Mila Nadia Nils Noah Nora Olga Oscar Paula
    Pedro Priya Ravi Rosa Ruth Samir Sara Sofia Søren Tariq Tessa Theo Tomás Uma Vera Victor Wanda Yara Yuki Zoë
""".split()  # noqa: SIM905 - a column of 80 quoted names is no easier to read
LAST = """
    Almeida Andersson Bauer Becker Bernard Bianchi Brown Carter Castro Costa Dahl Demir Diaz Dubois Eriksen Evans
    Fernández Fischer Fontaine Garcia Gupta Haas Hansen Hoffmann Horvat Ivanova Jansen Jensen Johansson Kaya
    Keller Khan Kowalska Kumar Lambert Larsen Lehmann Lindqvist Lopez Martin Meyer Moreau Müller Nakamura Nguyen
    Novak O'Brien Okafor Olsen Ortiz Park Patel Pereira Petit Popescu Ricci Rossi Roux Sato Schmidt Schneider
    Silva Smith Sørensen Suzuki Tanaka Torres Varga Vidal Virtanen Wagner Walker Weber Wood Yilmaz Zhang Žižek
""".split()  # noqa: SIM905 - a column of 80 quoted names is no easier to read
CITIES = (
    ("Berlin", "DE", 30), ("Hamburg", "DE", 16), ("München", "DE", 14), ("Köln", "DE", 9), ("Leipzig", "DE", 6),
    ("Wien", "AT", 10), ("Graz", "AT", 3), ("Zürich", "CH", 9), ("Basel", "CH", 4), ("Paris", "FR", 18),
    ("Lyon", "FR", 7), ("Amsterdam", "NL", 12), ("Utrecht", "NL", 5), ("København", "DK", 9),
    ("Aarhus", "DK", 3), ("Stockholm", "SE", 8), ("Madrid", "ES", 9), ("Barcelona", "ES", 8),
    ("Milano", "IT", 8), ("Torino", "IT", 4), ("Kraków", "PL", 5), ("İstanbul", "TR", 4),
)  # fmt: skip
PRODUCTS = (
    ("Espresso beans, 1 kg", 2190, 90), ("Filter roast, 500 g", 1450, 100), ("Decaf, 250 g", 890, 30),
    ("Guji natural, 250 g", 1390, 45), ("Cold brew bags, 10 pcs", 1290, 25), ("Paper filters, 100 pcs", 490, 80),
    ("Oat milk, 6 x 1 l", 1320, 40), ("Cleaning tablets", 1090, 30), ("Descaler, 1 l", 1190, 22),
    ("Cup, 200 ml", 1250, 35), ("Travel mug", 2450, 25), ("Pour-over dripper", 1990, 22),
    ("Glass server, 600 ml", 2690, 14), ("French press, 1 l", 3490, 12), ("Moka pot, 6 cups", 3250, 14),
    ("AeroPress", 3690, 15), ("Milk jug, 350 ml", 1890, 15), ("Tamper, 58 mm", 2990, 9),
    ("Kitchen scale, 0.1 g", 3890, 12), ("Gooseneck kettle", 8990, 7), ("Hand grinder", 11900, 6),
    ("Knock box", 3490, 7), ("Electric grinder", 24900, 3), ("Espresso machine", 74900, 1),
)  # fmt: skip
"""Name, price in cents, how often it is bought."""
MONTHS = (7, 7, 8, 8, 8, 7, 6, 6, 8, 9, 13, 15)
"""How a year's orders fall on its months: people give coffee away in winter."""
WEEKDAYS = (11, 10, 10, 11, 13, 9, 12)
HOURS = (3, 1, 1, 1, 1, 2, 5, 10, 13, 13, 12, 11, 13, 11, 9, 9, 10, 12, 14, 18, 20, 17, 11, 6)
