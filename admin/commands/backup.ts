import type { Command } from 'commander'
import { howMany } from '../../lib/core/names.ts'
import { makeBackup } from '../../lib/machine/backup/make-backup.ts'
import { restoreBackup } from '../../lib/machine/backup/restore-backup.ts'
import { checkDataDirectory } from '../../lib/machine/check/check-directory.ts'
import type { DamageCounts } from '../../lib/machine/directory/backup-marker.ts'
import { UsageError } from '../../lib/machine/directory/faults.ts'
import { parseText } from '../../local/flags.ts'
import type { GlobalOptions } from '../stores/stores.ts'
import { commandOf } from '../terminal/arguments.ts'
import { interruptibly } from '../terminal/interruption.ts'
import { FaultsFound, print, printText, Refusal } from '../terminal/output.ts'

const onOneMachine = (command: Command): GlobalOptions => {
  const options = command.optsWithGlobals<GlobalOptions>()
  if (options.target === 'local') return options
  throw new Refusal(
    `"${command.name()}" works only on the data directory of one machine. Leave out --target. For a deployment on ` +
      'AWS, read docs/recovery.md.',
  )
}

type Flags = Readonly<Record<'bytes' | 'evenIfDamaged' | 'keepWebhooks', boolean>>

const check = async ({ bytes }: Flags, self: Command): Promise<void> => {
  const { dataDir, json } = onOneMachine(self)
  const faults = await checkDataDirectory(dataDir, { withBytes: bytes })
  if (json) await print({ faults }, json)
  else if (faults.length > 0) await print(faults, json)
  else await printText('no faults')
  if (faults.length > 0) throw new FaultsFound()
}

const checkDescription =
  'one machine: list every fault of the data directory or of a backup; the service may be running'

export const checkCommand = (): Command =>
  commandOf('check', checkDescription, '', '--bytes --data-dir /backups/2026-11-22')
    .option('--bytes', 'also read every file, and compare its bytes with its fingerprint', false)
    .action(check)

const damageOption = ['--even-if-damaged', 'continue in spite of missing or damaged files', false] as const

interface Counts extends DamageCounts {
  readonly disabledWebhooks?: number
}

// Text for damage that needs no repair, and for the webhooks of a restored directory (V-33).
const sentencesOf = ({ damagedEarlier: states, damagedUploads: uploads, disabledWebhooks: webhooks = 0 }: Counts) => {
  const nothing = 'The current files of the sites are complete.'
  return [
    states > 0 &&
      `${howMany(states, 'old version is', 'old versions are')} damaged and cannot be restored. ${nothing} ` +
        '"site-admin check --bytes" lists the affected files.',
    uploads > 0 &&
      `${howMany(uploads, 'unfinished upload lacks', 'unfinished uploads lack')} bytes: the sender must start again. ` +
        `${nothing} "site-admin check" lists the affected uploads.`,
    webhooks > 0 &&
      `${howMany(webhooks, 'webhook is', 'webhooks are')} disabled, so that this copy sends nothing. If the copy ` +
        'replaces the old directory, restore the backup into another empty directory with --keep-webhooks.',
  ].filter((sentence) => sentence !== false)
}

const copy = async (
  self: Command,
  { what, member }: { readonly what: string; readonly member: string },
  run: (dataDir: string, signal: AbortSignal) => Promise<Counts & { readonly path: string }>,
): Promise<void> => {
  const { dataDir, json } = onOneMachine(self)
  const { path, ...counts } = await interruptibly(
    (signal) => run(dataDir, signal),
    new UsageError(`The ${what} was interrupted and left nothing behind. Repeat the command.`),
  )
  await print({ [member]: path, ...counts }, json)
  if (!json) for (const sentence of sentencesOf(counts)) await printText(`\n${sentence}`)
}

const backupDescription = 'one machine: back up the data directory; the service may be running'
const restoreDescription = 'one machine: fill an empty data directory from a backup'

export const backupCommand = (): Command =>
  commandOf('backup', backupDescription, '/backups/2026-11-22 --data-dir /var/lib/site-admin')
    .argument('<directory>', 'the folder for the backup; it must be empty, or not exist', parseText)
    .option(
      '--bytes',
      'also compare the bytes of every file that the backup does not copy with the fingerprint of the file',
      false,
    )
    .option(...damageOption)
    .action((target: string, { bytes, evenIfDamaged }: Flags, self: Command) =>
      copy(self, { what: 'backup', member: 'backup' }, (dataDir, signal) =>
        makeBackup(dataDir, target, { evenIfDamaged, withBytes: bytes, signal }),
      ),
    )

export const restoreCommand = (): Command =>
  commandOf('restore', restoreDescription, '/backups/2026-11-22 --data-dir /var/lib/site-admin')
    .argument('<directory>', 'the folder of the backup', parseText)
    .option('--keep-webhooks', 'keep the webhooks enabled, because this copy replaces the old directory', false)
    .option(...damageOption)
    .action((backup: string, { evenIfDamaged, keepWebhooks }: Flags, self: Command) =>
      copy(self, { what: 'restoration', member: 'dataDirectory' }, (dataDir, signal) =>
        restoreBackup(backup, dataDir, { evenIfDamaged, keepsWebhooks: keepWebhooks, signal }),
      ),
    )
