import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'vitest'
import { fields } from '../../../support/paths.ts'
import { launch } from '../../../support/program.ts'
import { test } from '../../../support/test.ts'

test.for(['site-admin.json', 'site-admin.db', 'running', 'demo.json'])(
  'A first start that is killed as soon as %s exists is completed by the next start',
  async (file, { start, directory }) => {
    const first = launch('local/main.js', ['--port', '0', '--data-dir', directory])
    while (!existsSync(join(directory, file))) await turn()
    first.kill('SIGKILL')
    await first.ended
    for (let restart = 0; restart < 2; restart++) {
      const service = await start()
      expect((await service.request(fields)).status).toBe(200)
      await service.stop()
    }
  },
)
