declare module 'oidc-provider/lib/adapters/memory_adapter.js' {
  import type { AdapterFactory } from 'oidc-provider'
  export const createMemoryAdapter: (clockTolerance: number) => AdapterFactory
}
