//! Names of the example shop. People, places and goods are made up from common words.

pub(crate) const FIRST: [&str; 40] = [
    "Anna", "Ben", "Clara", "David", "Elena", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Katja",
    "Leo", "Maria", "Nils", "Olga", "Pablo", "Quentin", "Rosa", "Simon", "Tessa", "Ugo", "Vera",
    "Willem", "Xenia", "Yann", "Zoe", "Agnes", "Bruno", "Celine", "Dario", "Emma", "Finn",
    "Giulia", "Henrik", "Ida", "Jakub", "Lena", "Marek", "Nora", "Oskar",
];

pub(crate) const LAST: [&str; 36] = [
    "Adler",
    "Bauer",
    "Costa",
    "Dubois",
    "Eriksson",
    "Ferrari",
    "Garcia",
    "Hoffmann",
    "Ivanov",
    "Jansen",
    "Kowalski",
    "Lindberg",
    "Moreau",
    "Novak",
    "Olsen",
    "Petit",
    "Quist",
    "Rossi",
    "Schmidt",
    "Torres",
    "Urban",
    "Visser",
    "Weber",
    "Xander",
    "Young",
    "Zielinski",
    "Almeida",
    "Berg",
    "Conti",
    "Dijkstra",
    "Egger",
    "Fontaine",
    "Gruber",
    "Huber",
    "Jonsson",
    "Klein",
];

/// The countries, each with its cities.
pub(crate) const PLACES: [(&str, &[&str]); 8] = [
    ("Germany", &["Berlin", "Hamburg", "Munich", "Cologne"]),
    ("France", &["Paris", "Lyon", "Nantes"]),
    ("Spain", &["Madrid", "Valencia", "Seville"]),
    ("Italy", &["Milan", "Turin", "Bologna"]),
    ("Netherlands", &["Amsterdam", "Utrecht"]),
    ("Austria", &["Vienna", "Graz"]),
    ("Poland", &["Warsaw", "Krakow"]),
    ("Sweden", &["Stockholm", "Malmo"]),
];

/// A category with its goods, each with its price in whole units.
pub(crate) type Category = (&'static str, &'static [(&'static str, i64)]);

/// The departments of the shop with their categories.
pub(crate) const DEPARTMENTS: [(&str, &[Category]); 4] = [
    (
        "Home",
        &[
            (
                "Kitchen",
                &[
                    ("Chef Knife", 64),
                    ("Cast Iron Pan", 49),
                    ("Espresso Maker", 34),
                    ("Mixing Bowl", 14),
                    ("Bread Box", 27),
                    ("Kettle", 39),
                    ("Pepper Mill", 22),
                    ("Cutting Board", 18),
                ],
            ),
            (
                "Bath",
                &[
                    ("Bath Towel", 16),
                    ("Soap Dish", 8),
                    ("Shower Mat", 19),
                    ("Laundry Basket", 29),
                    ("Mirror", 59),
                    ("Bathrobe", 45),
                ],
            ),
            (
                "Lighting",
                &[
                    ("Desk Lamp", 42),
                    ("Floor Lamp", 119),
                    ("Pendant Light", 89),
                    ("Night Light", 12),
                    ("Reading Lamp", 36),
                    ("String Lights", 21),
                ],
            ),
        ],
    ),
    (
        "Outdoor",
        &[
            (
                "Garden",
                &[
                    ("Watering Can", 17),
                    ("Pruning Shears", 24),
                    ("Garden Hose", 37),
                    ("Flower Pot", 9),
                    ("Rake", 23),
                    ("Wheelbarrow", 98),
                    ("Bird Feeder", 26),
                ],
            ),
            (
                "Camping",
                &[
                    ("Two Person Tent", 189),
                    ("Sleeping Bag", 79),
                    ("Camping Stove", 54),
                    ("Headlamp", 28),
                    ("Folding Chair", 33),
                    ("Water Filter", 47),
                ],
            ),
            (
                "Cycling",
                &[
                    ("Bike Helmet", 69),
                    ("Bike Lock", 38),
                    ("Pannier Bag", 74),
                    ("Bike Pump", 25),
                    ("Rear Light", 15),
                    ("Cycling Gloves", 20),
                ],
            ),
        ],
    ),
    (
        "Work",
        &[
            (
                "Office",
                &[
                    ("Notebook", 4),
                    ("Fountain Pen", 31),
                    ("Desk Organizer", 19),
                    ("Stapler", 11),
                    ("Office Chair", 229),
                    ("Whiteboard", 65),
                    ("Paper Shredder", 94),
                ],
            ),
            (
                "Electronics",
                &[
                    ("Keyboard", 84),
                    ("Wireless Mouse", 32),
                    ("Monitor Stand", 41),
                    ("Webcam", 58),
                    ("Headphones", 129),
                    ("USB Hub", 27),
                    ("Portable Speaker", 72),
                    ("Power Bank", 35),
                ],
            ),
        ],
    ),
    (
        "Leisure",
        &[
            (
                "Books",
                &[
                    ("Travel Atlas", 39),
                    ("Cookbook", 28),
                    ("Crime Novel", 12),
                    ("Poetry Collection", 15),
                    ("Star Guide", 18),
                    ("Language Course", 44),
                ],
            ),
            (
                "Toys",
                &[
                    ("Wooden Train", 46),
                    ("Puzzle", 14),
                    ("Building Blocks", 30),
                    ("Kite", 22),
                    ("Board Game", 36),
                    ("Plush Bear", 17),
                ],
            ),
            (
                "Music",
                &[
                    ("Ukulele", 68),
                    ("Harmonica", 29),
                    ("Music Stand", 26),
                    ("Drum Pad", 57),
                    ("Guitar Strings", 9),
                    ("Metronome", 24),
                ],
            ),
        ],
    ),
];

/// The words that suppliers are called by, beside a place.
pub(crate) const TRADES: [&str; 12] = [
    "Trading",
    "Works",
    "Supply",
    "Goods",
    "Manufactory",
    "Partners",
    "Imports",
    "Wholesale",
    "Craft",
    "Logistics",
    "Brothers",
    "Design",
];

/// The texts of reviews, by rating from one to five.
pub(crate) const OPINIONS: [&[&str]; 5] = [
    &["Broke after a week", "Not what the picture shows", "Arrived damaged"],
    &["Weaker than expected", "Too expensive for what it is", "Instructions are missing"],
    &["Does its job", "Fine for the price", "Average quality"],
    &["Good value", "Works well", "Would buy it again"],
    &["Excellent quality", "Better than expected", "A perfect gift"],
];
