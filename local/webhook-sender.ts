import { type Clock, systemClock } from '../lib/core/clock.ts'
import { createDeadline } from '../lib/core/deadline.ts'
import { createTurns } from '../lib/core/turns.ts'
import type { LocalStores } from '../lib/machine/machine.ts'
import type { WebhookKey } from '../lib/machine/tables/webhooks.ts'
import { createDeliveryDeps } from '../lib/service/deps.ts'
import { deliverNext } from '../lib/webhooks/deliver-next.ts'
import { createTarget, type Target } from '../lib/webhooks/target.ts'

// In milliseconds.
const longestTimer = 2 ** 31 - 1
const pauseAfterFailure = 5_000
const longestStop = 2_000

/** More sockets would leave too few file handles for requests. */
const mostSends = 500

const limitSends = ({ send }: Target): Pick<Target, 'send'> => {
  const inTurn = createTurns({ atOnce: mostSends })
  return { send: (message) => inTurn(() => send(message)) }
}

/** Runs some work again whenever it is woken, and at the time that it returns. */
const createWorker = (work: () => Promise<number | undefined>, { wall }: Clock) => {
  let running: Promise<void> | undefined
  let isWoken = false
  let isStopped = false
  let timer: NodeJS.Timeout | undefined

  const run = async (): Promise<void> => {
    while (isWoken && !isStopped) {
      isWoken = false
      const next = await work()
      clearTimeout(timer)
      if (next !== undefined && !isStopped) timer = setTimeout(wake, Math.min(Math.max(next - wall(), 0), longestTimer))
    }
    running = undefined
  }

  function wake(): void {
    isWoken = true
    running ??= run()
  }

  return {
    wake,
    async stop(): Promise<void> {
      isStopped = true
      clearTimeout(timer)
      await running
    },
  }
}

/** V-16. Each webhook has one worker, so a slow target does not delay the others (V-15). */
export const createWebhookSender = (stores: LocalStores, permitsPrivate: boolean, clock = systemClock) => {
  const target = createTarget({ permitsPrivate })
  const deps = createDeliveryDeps(stores, { target: { ...target, ...limitSends(target) }, clock })
  const workers = new Map<string, ReturnType<typeof hire>>()
  let isStopped = false
  let unwatch = () => {}
  let retry: NodeJS.Timeout | undefined
  const untilStopped = createDeadline(() => (isStopped ? 0 : Number.POSITIVE_INFINITY))

  const hire = ({ site, id }: WebhookKey) => {
    const worker = createWorker(async () => {
      try {
        return await deliverNext(deps, site, id, untilStopped)
      } catch (error) {
        if (!isStopped) console.error(`Webhook ${id} of site ${site} failed. It continues later:`, error)
        return clock.wall() + pauseAfterFailure
      }
    }, clock)
    const leave = stores.history.watch(site, worker.wake)
    worker.wake()
    return {
      stop(): Promise<void> {
        leave()
        return worker.stop()
      },
    }
  }

  const dismiss = async (name: string, worker: ReturnType<typeof hire>): Promise<void> => {
    await worker.stop()
    if (workers.get(name) !== worker) return
    workers.delete(name)
    follow()
  }

  const compare = async (): Promise<void> => {
    const enabled = new Map((await stores.webhooks.listEnabled()).map((key) => [`${key.site}/${key.id}`, key]))
    if (isStopped) return
    for (const [name, key] of enabled) if (!workers.has(name)) workers.set(name, hire(key))
    for (const [name, worker] of workers) if (!enabled.has(name)) void dismiss(name, worker)
  }

  /** A webhook that is enabled again gets its next worker when the last one has ended. */
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
      await Promise.all([...workers.values()].map(({ stop }) => stop()))
      clearTimeout(cut)
    },
  }
}
