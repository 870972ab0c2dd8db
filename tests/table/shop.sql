CREATE TABLE "we""ird; DROP TABLE sold" (a INTEGER, "b""c" TEXT, d BLOB, e REAL);
INSERT INTO "we""ird; DROP TABLE sold" VALUES (1, 'x', x'00ff', 2.0), (2, NULL, NULL, 0.1);
CREATE TABLE sold_items (item TEXT, sold INTEGER);
INSERT INTO sold_items VALUES ('Tea', 3);
CREATE VIEW twice AS SELECT item, sold * 2 AS doubled FROM sold_items;
CREATE TABLE empty (a);
CREATE VIRTUAL TABLE words USING fts5(text);
INSERT INTO words VALUES ('one two');
