import { readSettingsOf } from '../../lib/config/config.ts'
import { useService } from './canary/use-service.ts'

const settings = readSettingsOf('canary')

export const handler = (): Promise<void> => useService(settings)
