export type { Access, People } from './access.ts'
export type { Categories, ListQuery, Objects, Placed, PlacedQuery } from './categories.ts'
export type { Changes, ChangesQuery } from './changes.ts'
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
export type { FileCondition, Files, ListedFile, PutOptions, ReadOptions } from './files.ts'
export type { FieldCondition, Forms, NewSystemField, ReadField } from './forms.ts'
export type {
  Blog,
  BlogAssociation,
  Category,
  Change,
  ChangeType,
  Deleted,
  DownloadLink,
  Entry,
  Field,
  FieldChange,
  FieldType,
  FieldTypeId,
  FolderContent,
  Invitation,
  Me,
  NewsAssociation,
  NewsItem,
  NewUser,
  Problem,
  RemovalPreview,
  Site,
  User,
  UserChange,
  Version,
  WebForm,
} from './generated/types.gen.ts'
export { ServiceError } from './service-error.ts'
export type { Content, Source } from './source.ts'
export type { Patience } from './transport.ts'
export type { ResumableOptions, UploadProgress } from './upload.ts'
