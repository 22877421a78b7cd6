import { createTurns } from '../lib/core/in-parallel.ts'
import { createDeadline } from '../lib/core/time.ts'
import type { LocalStores } from '../lib/machine/machine.ts'
import type { WebhookKey } from '../lib/machine/tables/webhooks.ts'
import { createDeliveryDeps } from '../lib/service/deps.ts'
import { deliverNext } from '../lib/webhooks/deliver.ts'
import { createTarget, type Target } from '../lib/webhooks/target.ts'

// In milliseconds.
const longestTimer = 2 ** 31 - 1
const pauseAfterFailure = 5_000
const longestPause = 300_000
const longestStop = 2_000

/** More sockets would leave too few file handles for requests. */
const mostSends = 500

/** V-16. Each webhook has one worker, so a slow target does not delay the others (V-15). */
export const createWebhookSender = (stores: LocalStores, permitsPrivate: boolean) => {
  const target = createTarget({ permitsPrivate })
  const inTurn = createTurns({ atOnce: mostSends })
  const send: Target['send'] = (message) => inTurn(() => target.send(message))
  const deps = createDeliveryDeps(stores, { target: { ...target, send } })
  const enabled = new Set<string>()
  const workers = new Map<string, { wake: () => void; ended: Promise<void> }>()
  let isStopped = false
  let unwatch = () => {}
  let retry: NodeJS.Timeout | undefined
  const untilStopped = createDeadline(() => (isStopped ? 0 : Number.POSITIVE_INFINITY))

  /** Delivers after each change of the site, and when the next retry is due, while the webhook is enabled. */
  const hire = (name: string, { site, id }: WebhookKey): void => {
    const worker = { wake: () => {}, ended: Promise.resolve() }
    const run = async (): Promise<void> => {
      const unfollow = stores.history.watch(site, () => worker.wake())
      let pause = pauseAfterFailure
      while (enabled.has(name)) {
        // A change during the delivery wakes the worker, too.
        const woken = Promise.withResolvers<void>()
        worker.wake = woken.resolve
        let next: number | undefined
        try {
          next = (await deliverNext(deps, site, id, untilStopped)).next
          pause = pauseAfterFailure
        } catch (error) {
          if (!isStopped) console.error(`Webhook ${id} of site ${site} failed. The service tries again later:`, error)
          // Where outcomes cannot be stored, as on a full disk, each attempt sends the same change again.
          next = Date.now() + pause
          pause = Math.min(2 * pause, longestPause)
        }
        const timer = setTimeout(
          worker.wake,
          Math.min(Math.max((next ?? Number.POSITIVE_INFINITY) - Date.now(), 0), longestTimer),
        )
        await woken.promise
        clearTimeout(timer)
      }
      unfollow()
      workers.delete(name)
    }
    workers.set(name, worker)
    worker.ended = run()
  }

  const enable = (keys: readonly WebhookKey[]): void => {
    enabled.clear()
    for (const key of keys) {
      const name = `${key.site}/${key.id}`
      enabled.add(name)
      if (!workers.has(name)) hire(name, key)
    }
    for (const [name, { wake }] of workers) if (!enabled.has(name)) wake()
  }

  const follow = async (): Promise<void> => {
    clearTimeout(retry)
    const keys = await stores.webhooks.listEnabled().catch(() => undefined)
    if (isStopped) return
    if (keys) enable(keys)
    else retry = setTimeout(follow, pauseAfterFailure)
  }

  return {
    start(): void {
      unwatch = stores.webhooks.watch(follow)
      void follow()
    },

    /** Deliveries that take too long are cut off, and repeated at the next start. */
    async stop(): Promise<void> {
      isStopped = true
      unwatch()
      clearTimeout(retry)
      const ended = [...workers.values()].map((worker) => worker.ended)
      enable([])
      const cut = setTimeout(target.close, longestStop)
      await Promise.all(ended)
      clearTimeout(cut)
    },
  }
}
