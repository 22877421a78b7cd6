/** A port that runs `run` instead of each call. `call` makes the call. Leave out methods that return iterators. */
export const aroundCalls = <Port extends object>(
  port: Port,
  run: <Result>(call: () => Promise<Result>) => Promise<Result>,
  leftOut: readonly string[] = ['removedWithin'],
): Port =>
  new Proxy(port, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name)
      if (typeof method !== 'function' || leftOut.includes(String(name))) return method
      return (...given: readonly unknown[]) => run(async () => Reflect.apply(method, target, given))
    },
  })
