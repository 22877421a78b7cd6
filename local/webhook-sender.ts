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
  const workers = new Map<string, ReturnType<typeof hire>>()
  let isStopped = false
  let unwatch = () => {}
  let retry: NodeJS.Timeout | undefined
  const untilStopped = createDeadline(() => (isStopped ? 0 : Number.POSITIVE_INFINITY))

  const deliver = async ({ site, id }: WebhookKey, pause: number) => {
    try {
      return { next: await deliverNext(deps, site, id, untilStopped), pause: pauseAfterFailure }
    } catch (error) {
      if (!isStopped) console.error(`Webhook ${id} of site ${site} failed. The service tries again later:`, error)
      // Where outcomes cannot be stored, as on a full disk, each attempt sends the same change again.
      return { next: Date.now() + pause, pause: Math.min(2 * pause, longestPause) }
    }
  }

  /** Delivers after each change of the site, and when the next retry is due. Returns a function that ends this. */
  const hire = (key: WebhookKey) => {
    let isLeaving = false
    let wake = () => {}
    let pause = pauseAfterFailure
    const run = async (): Promise<void> => {
      while (!isLeaving) {
        // A change during the delivery wakes the worker, too.
        const woken = Promise.withResolvers<void>()
        wake = woken.resolve
        const { next, pause: nextPause } = await deliver(key, pause)
        pause = nextPause
        const wait = next === undefined ? longestTimer : Math.min(Math.max(next - Date.now(), 0), longestTimer)
        const timer = setTimeout(wake, wait)
        if (!isLeaving) await woken.promise
        clearTimeout(timer)
      }
    }
    const unfollow = stores.history.watch(key.site, () => wake())
    const ended = run()
    return (): Promise<void> => {
      isLeaving = true
      unfollow()
      wake()
      return ended
    }
  }

  const dismiss = async (name: string, stop: ReturnType<typeof hire>): Promise<void> => {
    await stop()
    if (workers.get(name) !== stop) return
    workers.delete(name)
    follow()
  }

  const compare = async (): Promise<void> => {
    const enabled = new Map((await stores.webhooks.listEnabled()).map((key) => [`${key.site}/${key.id}`, key]))
    if (isStopped) return
    for (const [name, key] of enabled) if (!workers.has(name)) workers.set(name, hire(key))
    for (const [name, stop] of workers) if (!enabled.has(name)) void dismiss(name, stop)
  }

  /** If a webhook is enabled again while its last worker still runs, the next worker begins after the last one. */
  function follow(): void {
    clearTimeout(retry)
    compare().catch(() => {
      if (!isStopped) retry = setTimeout(follow, pauseAfterFailure)
    })
  }

  return {
    start(): void {
      unwatch = stores.webhooks.watch(follow)
      follow()
    },

    /** Deliveries that take too long are cut off, and repeated at the next start. */
    async stop(): Promise<void> {
      isStopped = true
      unwatch()
      clearTimeout(retry)
      const cut = setTimeout(target.close, longestStop)
      await Promise.all([...workers.values()].map((stop) => stop()))
      clearTimeout(cut)
    },
  }
}
