/** The time of a deployed function for one message, in milliseconds. */
export const wholeTime = 90_000

export interface Message {
  readonly name: string
  readonly delay: number
}

interface World {
  readonly now: () => number
  readonly wait: (until: number) => void
  readonly deliver: (name: string) => Promise<void>
  /** The messages that the worker has sent since the last call. */
  readonly takeSent: () => readonly Message[]
}

/**
 * The queue of the deployment: it hides a received message for six times the time of its worker, delivers it five
 * times, and then moves it to the dead letters.
 */
export const createQueue = ({ now, wait, deliver, takeSent }: World) => {
  let waiting: { readonly name: string; due: number; received: number }[] = []
  const dead: string[] = []
  let deliveries = 0
  const add = (name: string, delay = 0) => void waiting.push({ name, due: now() + delay * 1000, received: 0 })
  const drop = (name: string) => {
    waiting = waiting.filter((message) => message.name !== name)
  }
  return {
    add,
    dead,
    deliveries: () => deliveries,
    redrive() {
      for (const name of dead.splice(0)) add(`${name} again`)
    },
    /** Lets the worker work until this moment, or until the queue is empty. */
    async workUntil(end: number) {
      for (;;) {
        const [next] = waiting.toSorted((one, other) => one.due - other.due)
        if (!next || next.due > end) break
        wait(Math.max(now(), next.due))
        if (next.received === 5) {
          dead.push(next.name)
          drop(next.name)
          continue
        }
        next.received += 1
        next.due = now() + 6 * wholeTime
        deliveries += 1
        const isDone = await deliver(next.name).then(
          () => true,
          () => false,
        )
        if (isDone) drop(next.name)
        for (const { name, delay } of takeSent()) add(name, delay)
      }
      wait(end)
    },
  }
}
