/** With all settings, a client of the SDK does not look for them in the environment and in files, which takes 2 ms. */
export const sdkSettings = {
  region: 'local',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  retryMode: 'standard',
  useDualstackEndpoint: false,
  useFipsEndpoint: false,
  authSchemePreference: async () => [],
  userAgentAppId: async () => undefined,
  defaultUserAgentProvider: async () => [],
}
