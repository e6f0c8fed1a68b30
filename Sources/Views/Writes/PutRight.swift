package import Changesets
package import SyncModel

/// The objects of which compensating writes are on their way to a client, or were, and which the client may have written to before it saw them.
package struct PutRight: Sendable {
    package enum Standing: Sendable {
        /// The client's write to the object was refused, and so is all that it did to the object before it has heard of that.
        case refused
        /// Nothing was refused: the client's writes count, and it is sent anew what each of them makes of the object, since the erasure that
        /// comes first has undone them in the client's copy.
        case renewed
    }

    private var refused: [ObjectAddress: ServerVersion] = [:]
    private var all: [ObjectAddress: ServerVersion] = [:]

    package init(_ compensations: [CompensatingWrite]) {
        for compensation in compensations { add(compensation) }
    }

    /// - Parameter compensation: later than all before.
    package mutating func add(_ compensation: CompensatingWrite) {
        for address in compensation.objects { all[address] = compensation.version }
        for write in compensation.refused where compensation.undoes {
            refused[ObjectAddress(write.className, write.key)] = compensation.version
        }
    }

    /// - Parameter base: the version that the client had seen when it wrote.
    package func standing(of address: ObjectAddress, for base: ServerVersion) -> Standing? {
        if let version = refused[address], version > base { return .refused }
        if let version = all[address], version > base { return .renewed }
        return nil
    }
}
