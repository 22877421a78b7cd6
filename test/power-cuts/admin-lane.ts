import { join } from 'node:path'
import { checkDataDirectory } from '../../lib/machine/check/check-directory.ts'
import { layoutOf } from '../../lib/machine/directory/data-directory.ts'
import { inspect } from '../../lib/machine/directory/inspect.ts'
import { type Lane, Refusal, type Step } from './lanes.ts'

interface Made {
  readonly sites: readonly string[]
  readonly backups: readonly string[]
  readonly restored: readonly string[]
}

const kinds = ['sites', 'backups', 'restored'] as const

const commands = {
  sites: (name: string): readonly string[] => ['site', 'create', '--name', name],
  backups: (name: string, _: Made, root: string) => ['backup', join(root, name)],
  restored: (name: string, { backups }: Made, root: string) => {
    return ['--data-dir', join(root, name), 'restore', join(root, backups.at(-1) ?? '')]
  },
}

/** A backup or a directory that is not complete yet must not look complete. */
const looksComplete = (path: string): boolean => {
  const found = inspect(layoutOf(path))
  return found === undefined || found.code === 'backup'
}

/** Commands that run in their own processes beside the service: they make sites, backups and restored directories. */
export const adminChanges = (prefix: string): Lane<Made> => ({
  start: { sites: [], backups: [], restored: [] },
  next(made, count): Step<Made> {
    const kind = kinds[count % kinds.length] ?? 'sites'
    const name = `${prefix}-${kind}-${count}`
    const after = { ...made, [kind]: [...made[kind], name] }
    return {
      after,
      async send(_, { root, administer }) {
        const { status, stderr } = await administer(commands[kind](name, made, root))
        if (status !== 0) throw new Refusal(`${name} ended with status ${status}: ${stderr}`)
        return after
      },
    }
  },
  async faultIn({ root, machine }, { acknowledged, underWay }) {
    const { sites } = await machine.stores.sites.list()
    const lost = acknowledged.sites.find((name) => !sites.some((site) => site.name === name))
    if (lost !== undefined) return `the site ${lost} is lost`
    const pathsOf = ({ backups, restored }: Made) => [...backups, ...restored].map((name) => join(root, name))
    const whole = [...pathsOf(acknowledged), ...pathsOf(underWay ?? acknowledged).filter(looksComplete)]
    for (const path of new Set(whole)) {
      const [finding] = await checkDataDirectory(path, { withBytes: true })
      if (finding) return `${finding.where}: ${finding.fault}`
    }
    return undefined
  },
})
