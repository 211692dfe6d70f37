-- A log as schema 2 had it: one of schema 1 that its program brought up, dumped, never changed since.
pragma auto_vacuum=incremental;
pragma application_id=1213353031;
pragma user_version=2;
BEGIN TRANSACTION;
CREATE TABLE alias(
    scope   text,
    alias   text,
    session integer,
    primary key(scope, alias, session)
) strict, without rowid;
INSERT INTO "alias" VALUES('acp:a','theirs',1);
CREATE TABLE base(                                   -- what pruning left of what it removed
    session integer primary key,
    seq     integer,
    version integer,
    crc     integer,
    body    blob
) strict;
CREATE TABLE batch(
    id      integer primary key autoincrement,       -- commit order over all sessions; never reused
    session integer not null,
    first   integer not null,
    last    integer not null,
    ts      integer not null,                        -- µs, of the last event
    codec   integer not null default 0,              -- 0 lines, 1 zstd of lines (cold)
    crc     integer not null,                        -- of session key, first, last, ts, codec, body
    body    blob not null,                           -- one event a line, a newline between two
    unique(session, first)
) strict;
INSERT INTO "batch" VALUES(1,1,1,2,1700000000000001,0,3141126858,X'7B22736571223A312C227473223A313730303030303030303030303030302C2274797065223A2273657373696F6E2E6F70656E6564222C227061796C6F6164223A7B22637764223A222F78222C227469746C65223A226669727374227D7D0A7B22736571223A322C227473223A313730303030303030303030303030312C2274797065223A2273657373696F6E2E616C696173222C227061796C6F6164223A7B2273636F7065223A226163703A61222C226964223A22746865697273227D7D');
INSERT INTO "batch" VALUES(2,1,3,7,1700000000000006,0,247817659,X'7B22736571223A332C227473223A313730303030303030303030303030322C2274797065223A226D6573736167652E64656C7461222C227061796C6F6164223A7B2274657874223A22776F7264203020C3A9227D7D0A7B22736571223A342C227473223A313730303030303030303030303030332C2274797065223A226D6573736167652E64656C7461222C227061796C6F6164223A7B2274657874223A22776F7264203120C3A9227D7D0A7B22736571223A352C227473223A313730303030303030303030303030342C2274797065223A226D6573736167652E64656C7461222C227061796C6F6164223A7B2274657874223A22776F7264203220C3A9227D7D0A7B22736571223A362C227473223A313730303030303030303030303030352C2274797065223A226D6573736167652E64656C7461222C227061796C6F6164223A7B2274657874223A22776F7264203320C3A9227D7D0A7B22736571223A372C227473223A313730303030303030303030303030362C2274797065223A226D6573736167652E64656C7461222C227061796C6F6164223A7B2274657874223A22776F7264203420C3A9227D7D');
INSERT INTO "batch" VALUES(3,2,1,1,1700000100000000,0,3199085685,X'7B22736571223A312C227473223A313730303030303130303030303030302C2274797065223A2278222C227061796C6F6164223A7B222424626C6F62223A226D696E65227D7D');
INSERT INTO "batch" VALUES(4,3,1,1,1700000200000000,0,2046689108,X'7B22736571223A312C227473223A313730303030303230303030303030302C2274797065223A2279222C227061796C6F6164223A7B7D7D');
CREATE TABLE blob(
    hash blob primary key,
    size integer not null,
    body blob not null
) strict;
CREATE TABLE blob_ref(
    session integer,
    hash    blob,
    last    integer,                                 -- the last seq that refers to it
    primary key(session, hash)
) strict, without rowid;
CREATE TABLE checkpoint(                             -- a cache: folds of a session at some seq
    session integer,
    kind    text,
    version integer,
    seq     integer,
    crc     integer,
    body    blob,
    primary key(session, kind, version, seq)
) strict, without rowid;
CREATE TABLE meta(
    key   text primary key,                          -- epoch, checksum, settled
    value any
) strict, without rowid;
INSERT INTO "meta" VALUES('checksum','crc32c');
INSERT INTO "meta" VALUES('epoch','19873c9b3a664f4bbe2ee996a98d449e');
INSERT INTO "meta" VALUES('settled',4);
CREATE TABLE session(
    id      integer primary key autoincrement,
    key     text not null unique,                    -- the session id
    created integer not null,                        -- µs
    floor   integer not null default 0,              -- pruned up to and including this seq
    deleted integer not null default 0,              -- 1: a tombstone, so that no number is reused
    title   text,
    meta    blob                                     -- payload of the first session.opened
, last_ts integer not null default 0, last_batch integer not null default 0) strict;
INSERT INTO "session" VALUES(1,'one',1700000000000000,0,0,'first',X'7B22637764223A222F78222C227469746C65223A226669727374227D',0,0);
INSERT INTO "session" VALUES(2,'two',1700000100000000,0,0,NULL,NULL,0,0);
INSERT INTO "session" VALUES(3,'@gateway',1700000200000000,0,0,NULL,NULL,0,0);
CREATE INDEX alias_by_name on alias(alias);
CREATE TRIGGER gapless before insert on batch
when new.last < new.first or new.first is not 1 + coalesce(
    (select last from batch where session = new.session order by first desc limit 1),
    (select floor from session where id = new.session))
begin
    select raise(abort, 'a batch must begin where its session ends');
end;
CREATE VIEW event as
select session.key as session_id, line.value ->> 'seq' as seq, line.value ->> 'ts' as ts,
    line.value ->> 'type' as type, line.value -> 'payload' as payload, batch.id as batch
from batch
join session on session.id = batch.session
join json_each('[' || replace(cast(batch.body as text), char(10), ',') || ']') as line
where batch.codec = 0
order by session.id, batch.first, line.key;
CREATE INDEX blob_ref_by_hash on blob_ref(hash);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('session',3);
INSERT INTO "sqlite_sequence" VALUES('batch',4);
COMMIT;
