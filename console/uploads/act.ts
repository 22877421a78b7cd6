/** Failed items can be repeated. */
export interface Outcome {
  readonly done: readonly string[]
  readonly failed: readonly { readonly path: string; readonly error: unknown }[]
}

const mostAtOnce = 4

/** Does the same to each of many paths, some at once. One that fails does not stop the others. */
export const onEach = async (paths: readonly string[], act: (path: string) => Promise<void>): Promise<Outcome> => {
  const done: string[] = []
  const failed: { path: string; error: unknown }[] = []
  /** One for all of them: each takes the next. */
  const left = paths.values()
  const work = async () => {
    for (const path of left) {
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
