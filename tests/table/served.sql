CREATE TABLE people (name text, age int, born date, pay numeric(8, 2), tags text[])
INSERT INTO people VALUES ('Ann', 30, '1994-05-01', 1.50, ARRAY['a'])
INSERT INTO people VALUES ('Bob', 50)
CREATE UNLOGGED TABLE large AS SELECT i, i AS j FROM generate_series(1, 10000000) AS i
CREATE SCHEMA s
CREATE TABLE s.runs AS SELECT 7 AS run
CREATE FUNCTION f() RETURNS int AS 'DELETE FROM people; SELECT 1' LANGUAGE sql
CREATE VIEW writes AS SELECT f()
CREATE USER ann PASSWORD 'hush-hush'
GRANT SELECT ON people TO ann
