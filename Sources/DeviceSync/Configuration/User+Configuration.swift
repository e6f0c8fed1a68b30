internal import SyncProtocol

extension User {
    /// The configuration of this user's realm for one partition.
    ///
    /// `partitionValue` is a `String`, `Int`, `ObjectId`, `UUID` or null; any other type traps.
    public func configuration<T: BSON>(
        partitionValue: T,
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
        cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        configuration(
            partitionValue: partitionValue.asBSON, clientResetMode: clientResetMode,
            cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors)
    }

    /// The configuration of this user's realm for one partition.
    public func configuration(
        partitionValue: AnyBSON,
        clientResetMode: ClientResetMode = .recoverUnsyncedChanges(beforeReset: nil, afterReset: nil),
        cancelAsyncOpenOnNonFatalErrors: Bool = false
    ) -> Realm.Configuration {
        guard let partition = PartitionValue(partitionValue) else {
            preconditionFailure("a partition value is a String, Int, ObjectId, UUID or null")
        }
        return Realm.Configuration(
            fileURL: core.layout.realmFile(userID: id, partition: partition),
            syncConfiguration: SyncConfiguration(
                user: self, partitionValue: partitionValue, clientResetMode: clientResetMode,
                cancelAsyncOpenOnNonFatalErrors: cancelAsyncOpenOnNonFatalErrors))
    }
}

extension SyncConfiguration {
    /// The partition as the wire knows it.
    var partition: PartitionValue { partitionValue.flatMap(PartitionValue.init) ?? .null }
}
