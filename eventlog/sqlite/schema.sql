-- The whole log. `batch`, `base` and `blob` are the truth; the rest is derived, or a cache.
-- `auto_vacuum` has to be set before the first table; `secure_delete` belongs to a connection.

create table meta(
    key   text primary key,                          -- epoch, checksum, settled; sum, schema
    value any
) strict, without rowid;

create table session(
    id      integer primary key autoincrement,
    key     text not null unique,                    -- the session id
    created integer not null,                        -- µs
    floor   integer not null default 0,              -- pruned up to and including this seq
    deleted integer not null default 0,              -- 1: a tombstone, so that no number is reused
    title   text,
    meta    blob,                                    -- payload of the first session.opened
    last_ts    integer not null default 0,           -- ts and id of the last batch that was pruned:
    last_batch integer not null default 0,           -- what a list shows if none is left
    own     integer not null default 0,              -- sum of the columns above (sums.py),
    names   integer not null default 0,              -- total of the sums of its rows in alias,
    refs    integer not null default 0               -- and in blob_ref
) strict;

create table alias(
    scope   text,
    alias   text,
    session integer,
    primary key(scope, alias, session)
) strict, without rowid;

create index alias_by_name on alias(alias);

create table batch(
    id      integer primary key autoincrement,       -- commit order over all sessions; never reused
    session integer not null,
    first   integer not null,
    last    integer not null,
    ts      integer not null,                        -- µs, of the last event
    codec   integer not null default 0,              -- 0 lines, 1 zstd of lines (cold), 2 a gap
    crc     integer not null,                        -- of session key, first, last, ts, codec, body
    body    blob not null,                           -- one event a line, a newline between two
    unique(session, first)
) strict;

create table checkpoint(                             -- a cache: folds of a session at some seq
    session integer,
    kind    text,
    version integer,
    seq     integer,
    crc     integer,
    body    blob,
    primary key(session, kind, version, seq)
) strict, without rowid;

create table base(                                   -- what pruning left of what it removed
    session integer primary key,
    seq     integer,
    version integer,
    crc     integer,
    body    blob
) strict;

create table blob(
    hash blob primary key,
    size integer not null,
    body blob not null
) strict;

create table blob_ref(
    session integer,
    hash    blob,
    last    integer,                                 -- the last seq that refers to it
    primary key(session, hash)
) strict, without rowid;

create index blob_ref_by_hash on blob_ref(hash);

create table sweep(                                  -- sessions of which something is still to be
    session integer primary key                      -- removed: all up to the floor
) strict;

-- The last line of defence: whatever the program believes, no hole and no number twice (S-1).
create trigger gapless before insert on batch
when new.last < new.first or new.first is not 1 + coalesce(
    (select last from batch where session = new.session order by first desc limit 1),
    (select floor from session where id = new.session))
begin
    select raise(abort, 'a batch must begin where its session ends');
end;
