import Crypto
package import Storage
import SyncModel

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A folder of this machine, told from every other folder of this and other machines.
///
/// Two processes may share SQLite's files only if one kernel serves both: its boot has an id of its own, which containers on a machine
/// share and clones of a machine do not. Within it device and file number tell a folder from its copies, whatever it is called.
package struct StoreFolder: Sendable, Equatable {
    /// Short: how the machine's boot id begins, for people, and a digest.
    package let name: String

    /// - Throws: `notFound` if the folder is not there.
    package init(_ path: String) throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw StoreError(
                .notFound, "the store's folder \(path) cannot be looked at: \(String(cString: strerror(errno)))")
        }
        self.init(boot: Self.boot ?? Self.hostName, device: UInt64(status.st_dev), file: UInt64(status.st_ino))
    }

    /// - Parameter boot: the id of the kernel's boot. A host's name would not do: each container on a machine has one of its own.
    init(boot: String, device: UInt64, file: UInt64) {
        let digest = SHA256.hash(data: Array("\(boot) \(device) \(file)".utf8)).prefix(6)
        let words = boot.unicodeScalars.prefix(8).map { scalar in
            scalar.isASCII && scalar.properties.isAlphabetic || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
        }
        name = String(words) + "/" + HexBytes(Array(digest)).hex
    }

    private static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "unknown" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The id of the kernel's boot; nil where there is none to read.
    private static var boot: String? {
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(file, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).filter { $0 > 0x20 }, as: UTF8.self) : nil
    }
}
