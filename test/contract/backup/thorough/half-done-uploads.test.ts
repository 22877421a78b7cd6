import { readdirSync, truncateSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { administer, administerJson } from '../../../support/administration.ts'
import { beginUpload, faultsOf, put, read, test } from '../../../support/backups.ts'
import { messages, phrase } from '../../../support/messages.ts'
import { faultAt } from '../../../support/outcomes.ts'

test.for([
  ['are missing', 30_000, (blob: string) => rm(blob)],
  ['are too few', 18_000, (blob: string) => truncateSync(blob, 12_000)],
] as const)(
  'check reports an unfinished upload whose bytes %s, and a backup still succeeds',
  async ([, missing, inflict], { place: { data, backup, restored }, serve }) => {
    const service = await serve(data)
    await (await beginUpload(service))(service, 0, '1')
    await put(service, 'small.txt', 'small')
    await service.stop()
    const [blob = ''] = readdirSync(join(data, 'blobs'))
    await inflict(join(data, 'blobs', blob))

    const named = [faultAt('site 1001, upload of uploads/half.bin', messages.check.uploadShort(missing, blob))]
    expect(await faultsOf(data)).toEqual(named)
    const made = await administer(data, ['backup', backup])
    expect(made).toMatchObject({ status: 0, stderr: '' })
    expect(made.stdout).toMatch(phrase`\n\n1 unfinished upload lacks bytes: the sender must start again. …$`)
    expect(await faultsOf(backup)).toEqual(named)
    expect(await administerJson(restored, ['restore', backup])).toMatchObject({ damaged: 0, damagedUploads: 1 })
    expect(String(await read(await serve(restored), 'small.txt'))).toBe('small')
  },
)
