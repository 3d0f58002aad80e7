-- Which process says that it is alive under the name of a node. A row that nobody took away is of one that was killed, or that lost
-- its connection and is about to come back.
CREATE TABLE node_leases (
    node   TEXT COLLATE "C" PRIMARY KEY,
    holder UUID NOT NULL,
    beat   BIGINT NOT NULL
);
