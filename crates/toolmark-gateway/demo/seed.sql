CREATE TABLE users (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  city TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1,
  joined TEXT NOT NULL
);
CREATE TABLE products (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  stock INTEGER NOT NULL CHECK (stock >= 0)
);
CREATE TABLE orders (
  id INTEGER PRIMARY KEY,
  user_id INTEGER NOT NULL REFERENCES users (id),
  product_id INTEGER NOT NULL REFERENCES products (id),
  quantity INTEGER NOT NULL CHECK (quantity > 0),
  status TEXT NOT NULL,
  placed TEXT NOT NULL
);
CREATE TABLE issues (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  title TEXT NOT NULL,
  body TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL DEFAULT 'open',
  opened TEXT NOT NULL
);
CREATE TABLE comments (
  id INTEGER PRIMARY KEY,
  issue INTEGER NOT NULL REFERENCES issues (number) ON DELETE CASCADE,
  author TEXT NOT NULL,
  body TEXT NOT NULL
);
CREATE TABLE pages (
  title TEXT PRIMARY KEY COLLATE NOCASE,
  body TEXT NOT NULL,
  revision INTEGER NOT NULL DEFAULT 1,
  updated TEXT NOT NULL
);
CREATE TABLE page_history (
  title TEXT NOT NULL COLLATE NOCASE,
  revision INTEGER NOT NULL,
  body TEXT NOT NULL,
  updated TEXT NOT NULL,
  PRIMARY KEY (title, revision)
);
CREATE TRIGGER page_kept AFTER UPDATE OF body ON pages BEGIN
  INSERT INTO page_history (title, revision, body, updated) VALUES (old.title, old.revision, old.body, old.updated);
END;
CREATE TABLE messages (
  id TEXT PRIMARY KEY,
  sender TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  received TEXT NOT NULL
);
CREATE TABLE outbox (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  sent TEXT NOT NULL
);

INSERT INTO users (id, name, email, city, active, joined) VALUES
  (1, 'Ada de Vries', 'ada@example.com', 'Utrecht', 1, '2024-02-11'),
  (2, 'Bram Jansen', 'bram@example.com', 'Gent', 1, '2024-03-02'),
  (3, 'Chiara Rossi', 'chiara@example.com', 'Torino', 1, '2024-05-19'),
  (4, 'Dieter Braun', 'dieter@example.com', 'Bremen', 0, '2024-06-30'),
  (5, 'Elif Kaya', 'elif@example.com', 'Izmir', 1, '2024-09-08'),
  (6, 'Femi Adeyemi', 'femi@example.com', 'Lagos', 1, '2025-01-14'),
  (7, 'Grace Murphy', 'grace@example.com', 'Cork', 1, '2025-03-27'),
  (8, 'Hugo Martin', 'hugo@example.com', 'Lyon', 0, '2025-04-05');
INSERT INTO products (id, name, price_cents, stock) VALUES
  (1, 'Desk lamp', 3450, 40),
  (2, 'Oak shelf', 8900, 12),
  (3, 'Wool blanket', 5600, 25),
  (4, 'Tea pot', 2750, 0),
  (5, 'Wall clock', 4100, 18),
  (6, 'Coat rack', 6200, 7);
INSERT INTO orders (id, user_id, product_id, quantity, status, placed) VALUES
  (1, 1, 2, 1, 'delivered', '2025-05-02'),
  (2, 1, 1, 2, 'delivered', '2025-05-02'),
  (3, 2, 3, 1, 'returned', '2025-05-17'),
  (4, 3, 5, 1, 'delivered', '2025-06-01'),
  (5, 4, 4, 3, 'cancelled', '2025-06-09'),
  (6, 5, 6, 1, 'shipped', '2025-07-21'),
  (7, 6, 1, 4, 'shipped', '2025-07-22'),
  (8, 7, 2, 1, 'paid', '2025-07-30'),
  (9, 1, 4, 1, 'paid', '2025-08-01'),
  (10, 3, 3, 2, 'paid', '2025-08-02');
INSERT INTO issues (number, title, body, state, opened) VALUES
  (1, 'Checkout fails for two lamps', 'The total is wrong when more than one lamp is in the basket.', 'closed', '2025-05-03T08:12:00Z'),
  (2, 'Tea pot is shown although it is sold out', 'Stock is 0 but the page still has a button.', 'open', '2025-06-10T14:40:00Z'),
  (3, 'Search ignores accents', 'Looking for "etagere" finds nothing.', 'open', '2025-06-22T09:05:00Z'),
  (4, 'Refunds take too long', 'A returned order waits a week for its refund.', 'open', '2025-07-01T16:30:00Z'),
  (5, 'Mail about a shipped order comes twice', 'Both copies have the same text.', 'open', '2025-07-23T07:55:00Z');
INSERT INTO comments (id, issue, author, body) VALUES
  (1, 1, 'bram', 'Seen in production as well.'),
  (2, 1, 'ada', 'Fixed: quantities were added, not multiplied.'),
  (3, 2, 'chiara', 'The shop page keeps its own copy of the stock.'),
  (4, 4, 'grace', 'See the page "Refund policy": five days are promised.');
INSERT INTO pages (title, body, updated) VALUES
  ('Home', '# Home' || char(10) || 'Start with *Onboarding*, then read *Refund policy*.', '2025-04-01T10:00:00Z'),
  ('Onboarding', '# Onboarding' || char(10) || 'Ask for access to the shop, the tracker and the mail on your first day.', '2025-04-02T10:00:00Z'),
  ('Refund policy', '# Refund policy' || char(10) || 'A refund is paid within five days after a return has arrived.', '2025-05-20T10:00:00Z'),
  ('Release checklist', '# Release checklist' || char(10) || '1. Close the issues.' || char(10) || '2. Tell everybody by mail.', '2025-06-15T10:00:00Z');
INSERT INTO messages (id, sender, subject, body, received) VALUES
  ('m1', 'grace@example.com', 'Where is my shelf?', 'I paid on 30 July and have heard nothing since.', '2025-08-03T06:20:00Z'),
  ('m2', 'dieter@example.com', 'Cancel my account', 'Please close it; I have moved.', '2025-07-12T11:02:00Z'),
  ('m3', 'supplier@example.net', 'Tea pots', 'The next delivery has 60 of them.', '2025-08-04T13:45:00Z'),
  ('m4', 'bram@example.com', 'Refund', 'The blanket went back two weeks ago.', '2025-06-02T19:31:00Z');

-- Inspections of food businesses. The companies are made up; the regulations are told in short.
CREATE TABLE companies (kvk_number TEXT PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
INSERT INTO companies VALUES
  ('12345678', 'Bakkerij De Korenaar', 'Utrecht'), ('23456789', 'Visrestaurant Zeezicht', 'Scheveningen'), ('34567890', 'Speelgoed Jansen', 'Zwolle');

CREATE TABLE inspections (inspection_id TEXT PRIMARY KEY, kvk_number TEXT NOT NULL REFERENCES companies, inspector TEXT NOT NULL, held TEXT NOT NULL, result TEXT NOT NULL, follow_up TEXT NOT NULL);
INSERT INTO inspections VALUES
  ('INS-1001', '12345678', 'Fatima El Idrissi', '2025-03-11', 'in order', 'none'), ('INS-1002', '23456789', 'Jan de Vries', '2025-06-02', 'violations', 'done on 2025-06-20'),
  ('INS-1003', '23456789', 'Fatima El Idrissi', '2026-02-17', 'violations', 'open'), ('INS-1004', '34567890', 'Jan de Vries', '2026-05-29', 'violations', 'open');

CREATE TABLE violations (id INTEGER PRIMARY KEY, inspection_id TEXT NOT NULL REFERENCES inspections, regulation_id TEXT NOT NULL, severity TEXT NOT NULL, what TEXT NOT NULL);
INSERT INTO violations VALUES
  (1, 'INS-1002', 'REG-852', 'serious', 'The cold store was at 9 degrees.'), (2, 'INS-1003', 'REG-852', 'critical', 'The cold store was at 11 degrees.'),
  (3, 'INS-1003', 'REG-1169', 'minor', 'Allergens were not listed.'), (4, 'INS-1004', 'REG-48', 'serious', 'Small parts came loose from a toy.');

CREATE TABLE regulations (regulation_id TEXT PRIMARY KEY, title TEXT NOT NULL, about TEXT NOT NULL);
INSERT INTO regulations VALUES
  ('REG-852', 'Hygiene of foodstuffs', 'How food is stored, prepared and carried.'), ('REG-1169', 'Food information to consumers', 'What has to stand on a label or a menu.'),
  ('REG-48', 'Safety of toys', 'What toys must withstand.');

CREATE TABLE articles (regulation_id TEXT NOT NULL REFERENCES regulations, article TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (regulation_id, article));
INSERT INTO articles VALUES
  ('REG-852', '4', 'Whoever handles food keeps to the cold chain and to the temperature for each kind.'), ('REG-852', '5', 'Procedures that rest on HACCP are in place and kept up.'),
  ('REG-1169', '9', 'Allergens are listed wherever food is offered.'), ('REG-48', '10', 'A toy must not endanger the safety or health of children.');

CREATE TABLE reports (report_id INTEGER PRIMARY KEY, kvk_number TEXT NOT NULL REFERENCES companies, notes TEXT NOT NULL, answers TEXT NOT NULL DEFAULT '{}', state TEXT NOT NULL DEFAULT 'draft', signed_by TEXT);
INSERT INTO reports (kvk_number, notes) VALUES ('23456789', 'Cold store too warm again. Menu without allergens.');
