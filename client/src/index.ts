export type { Access, Keys, People, ReadUser, UserCondition } from './access.ts'
export type { Categories, ListQuery, Objects, Placed, PlacedQuery } from './categories.ts'
export type { Changes, ChangesPage } from './changes.ts'
export {
  acceptInvitation,
  type ConnectOptions,
  type Credentials,
  connect,
  findSites,
  type SiteClient,
  type Sites,
  signIn,
} from './connect.ts'
export { beginSignIn, type ExternalSignIn, findIssuers } from './external-sign-in.ts'
export type { FileChanges, FileCondition, PutOptions } from './file-changes.ts'
export type { Files, ListedFile, ReadOptions } from './files.ts'
export type { ChangesQuery, FollowQuery } from './follow-changes.ts'
export type { FieldCondition, Forms, ReadField, SystemFieldCreation } from './forms.ts'
export type {
  Blog,
  BlogAssociation,
  Category,
  Change,
  ChangedWebhook,
  ChangeType,
  CreatedKey,
  CreatedWebhook,
  Deleted,
  Delivery,
  DownloadLink,
  Entry,
  Field,
  FieldChange,
  FieldType,
  FieldTypeId,
  FolderContent,
  FoundItem,
  Invitation,
  Key,
  KeyCreation,
  Me,
  NewsAssociation,
  NewsItem,
  Problem,
  RemovalPreview,
  Site,
  TrashItem,
  User,
  UserChange,
  UserCreation,
  Version,
  WebForm,
  Webhook,
  WebhookChange,
  WebhookCreation,
} from './generated/types.gen.ts'
export { ServiceError } from './service-error.ts'
export type { Content, Source } from './source.ts'
export type { Patience } from './transport.ts'
export type { ResumableOptions, UploadProgress } from './upload.ts'
export type { Webhooks } from './webhooks.ts'
