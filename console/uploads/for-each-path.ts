export interface Outcome {
  readonly done: readonly string[]
  readonly failed: readonly { readonly path: string; readonly error: unknown }[]
}

/** Called with the numbers of actions that have ended, and of all actions. If it returns false, no more actions begin. */
export type MayContinue = (ended: number, all: number) => boolean

const mostAtOnce = 4

/** Runs an action on many paths, several at a time. A failure does not stop the others. */
export const forEachPath = async (
  paths: readonly string[],
  act: (path: string) => Promise<void>,
  mayContinue: MayContinue = () => true,
): Promise<Outcome> => {
  const done: string[] = []
  const failed: { path: string; error: unknown }[] = []
  const queue = paths.values()
  const work = async () => {
    for (const path of queue) {
      if (!mayContinue(done.length + failed.length, paths.length)) return
      try {
        await act(path)
        done.push(path)
      } catch (error) {
        failed.push({ path, error })
      }
    }
  }
  await Promise.all(Array.from({ length: mostAtOnce }, work))
  return { done, failed }
}
