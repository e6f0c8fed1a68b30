/// The failures that acknowledged changes of a store survive.
package enum StoreDurability: String, Sendable, Equatable {
    /// Changes are in the memory of one machine: they are lost with its power.
    case memory
    /// Changes are on the disk of one machine: they are lost with that disk.
    case oneDisk
    /// Changes are on the disk of one machine and in the memory of another: they are lost if one machine is, and the
    /// other's power too.
    case diskAndMemory
    /// Changes are on the disks of two machines.
    case twoDisks

    package var meaning: String {
        switch self {
        case .memory: "in memory"
        case .oneDisk: "on the disk of one machine"
        case .diskAndMemory: "on the disk of one machine and in the memory of another"
        case .twoDisks: "on the disks of two machines"
        }
    }
}
