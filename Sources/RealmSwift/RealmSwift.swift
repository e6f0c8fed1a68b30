/// `DeviceSync` under the name that programs written for Realm Swift import.
@_exported public import DeviceSync
