/**
 * The column record has the settings and the secrets of a webhook as JSON. Moments are in epoch milliseconds. The
 * positions are ids of changes.
 */
export const webhooks = `
  CREATE TABLE webhooks (
    site INTEGER NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    position INTEGER NOT NULL,
    last_success INTEGER,
    failing_since INTEGER,
    PRIMARY KEY (site, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE webhook_deliveries (
    site INTEGER NOT NULL,
    webhook TEXT NOT NULL,
    id TEXT NOT NULL,
    position INTEGER NOT NULL,
    type TEXT NOT NULL,
    at INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER, -- NULL if no answer arrived.
    fault TEXT,
    milliseconds INTEGER NOT NULL,
    PRIMARY KEY (site, webhook, id),
    FOREIGN KEY (site, webhook) REFERENCES webhooks (site, id) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE webhook_retries (
    site INTEGER NOT NULL,
    webhook TEXT NOT NULL,
    position INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    due INTEGER NOT NULL,
    PRIMARY KEY (site, webhook, position),
    FOREIGN KEY (site, webhook) REFERENCES webhooks (site, id) ON DELETE CASCADE
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX webhook_retries_by_time ON webhook_retries (site, webhook, due);`
