import type { Workflows } from '../lib/storage/workflows.ts'
import { behindFolder, insideFolder } from './below-folder.ts'
import type { Database } from './database.ts'

/** The running workflows of pages, on one machine. */
export const createWorkflows = ({ connection, read, write }: Database): Workflows => {
  const insert = connection.prepare('INSERT INTO workflows (site, page) VALUES (?, ?) ON CONFLICT DO NOTHING')
  const remove = connection.prepare('DELETE FROM workflows WHERE site = ? AND page = ?')
  const firstOf = connection.prepare(
    'SELECT 1 FROM workflows WHERE site = ? AND page IN (SELECT value FROM json_each(?)) LIMIT 1',
  )
  const firstBelow = connection.prepare('SELECT 1 FROM workflows WHERE site = ? AND page >= ? AND page < ? LIMIT 1')

  return {
    async start(site, page) {
      await write(() => insert.run(site, page))
    },

    end: (site, page) => write(() => remove.run(site, page).changes === 1),

    isRunning: (site, pages) => read(() => firstOf.get(site, JSON.stringify(pages)) !== undefined),

    isRunningBelow: (site, folder) =>
      read(() => firstBelow.get(site, insideFolder(folder), behindFolder(folder)) !== undefined),
  }
}
