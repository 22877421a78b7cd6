export type {
  GroupContract as GroupDoc,
  OperationContract as OperationDoc,
  ParameterContracts as ParameterDocs,
  Provoked,
} from './contract.ts'
