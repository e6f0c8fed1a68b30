/// What the changes that a store has acknowledged survive.
package enum StoreDurability: String, Sendable, Equatable {
    /// They are lost with the power of one machine.
    case memory
    /// They are lost with one machine's disk.
    case oneDisk
    /// On the disk of one machine and in the memory of another: they are lost if one machine is, and the other's power too.
    case diskAndMemory
    /// On the disks of two machines.
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
