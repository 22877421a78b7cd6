import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { checkDirectory } from '../../lib/machine/check/check-directory.ts'
import { layoutOf } from '../../lib/machine/directory/data-directory.ts'
import { inspect } from '../../lib/machine/directory/inspect.ts'
import { type Lane, Refusal, type Step } from './lanes.ts'

interface Made {
  readonly sites: readonly string[]
  readonly backups: readonly string[]
  readonly restored: readonly string[]
}

const kinds = ['sites', 'backups', 'restored'] as const

const fault = async (path: string): Promise<string | undefined> => {
  const [first] = await checkDirectory(path, { withBytes: true })
  return first && `${first.where}: ${first.fault}`
}

/** Commands beside the service, each in a process of its own: sites, backups, and directories restored from them. */
export const adminChanges = (prefix: string): Lane<Made> => ({
  start: { sites: [], backups: [], restored: [] },

  next(made, count): Step<Made> {
    const kind = kinds[count % kinds.length] ?? 'sites'
    const name = `${prefix}-${kind}-${count}`
    const after = { ...made, [kind]: [...made[kind], name] }
    return {
      name: `${kind}: ${name}`,
      after,
      async send(_, { root, administer }) {
        const { status, stderr } = await administer(
          kind === 'sites'
            ? ['site', 'create', '--name', name]
            : kind === 'backups'
              ? ['backup', join(root, name)]
              : ['--data-dir', join(root, name), 'restore', join(root, made.backups.at(-1) ?? '')],
        )
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
    for (const path of pathsOf(acknowledged)) {
      const found = await fault(path)
      if (found !== undefined) return found
    }
    // What was under way does not look complete before it is.
    for (const path of pathsOf(underWay ?? acknowledged)) {
      const found = existsSync(path) && inspect(layoutOf(path))
      const looksComplete = found === undefined || (found && found.code === 'backup')
      const broken = looksComplete ? await fault(path) : undefined
      if (broken !== undefined) return broken
    }
    return undefined
  },
})
