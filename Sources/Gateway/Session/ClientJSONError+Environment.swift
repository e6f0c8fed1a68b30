import SyncModel
import SyncProtocol

extension ClientJSONError {
    /// The causes that stock clients name first in their message if their device or their process lacked something: the data was not at fault.
    private static let causes: Set<Substring> = [
        "OutOfMemory", "OutOfDiskSpace", "AddressSpaceExhausted", "SystemError", "FileOperationFailed",
        "PermissionDenied",
        "FileNotFound", "OperationAborted",
    ]
    /// Texts of a message that names the C++ library's error and not a cause.
    private static let texts = ["std::bad_alloc", "Cannot allocate memory", "No space left on device"]

    /// The client's file and what it was sent are as good as before: with memory, room on the disk or access to its file it can go on.
    var isOfEnvironment: Bool {
        guard code == .otherSessionError else { return false }
        if let cause = message.split(separator: ":", maxSplits: 1).first, Self.causes.contains(cause) { return true }
        return Self.texts.contains { message.contains($0) }
    }
}
