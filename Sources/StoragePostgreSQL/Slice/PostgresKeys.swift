import Changesets
import Crypto
import Storage
import SyncModel

// What stands in the indexes for values that may be longer than an index takes.

extension RealmName {
    /// A digest: as good as unique, and always of the same length.
    var nameID: [UInt8] { digest(app, partition) }
}

extension AppUser {
    var userKey: [UInt8] { digest(app, user) }
}

private func digest(_ first: String, _ second: String) -> [UInt8] {
    var hash = SHA256()
    // With its length, so that no two pairs are the same bytes.
    hash.update(data: Array("\(first.utf8.count):".utf8))
    hash.update(data: Array(first.utf8))
    hash.update(data: Array(second.utf8))
    return Array(hash.finalize())
}

/// An object's key as it is stored.
struct StoredKey {
    let encoding: [UInt8]

    /// The longest that an `id` gets, in bytes.
    private static let maxLength = 1_000

    init(_ key: ObjectKey) { encoding = key.detachedEncoding() }
    init(encoding: [UInt8]) { self.encoding = encoding }

    /// What stands in the index: the encoding; of a long one the beginning and a digest. Keys are in the order of these.
    var id: [UInt8] {
        guard encoding.count >= Self.maxLength else { return encoding }
        return Array(encoding.prefix(Self.maxLength - SHA256.byteCount)) + Array(SHA256.hash(data: encoding))
    }

    static func key(_ encoding: [UInt8]) throws(StoreError) -> ObjectKey {
        do {
            return try ObjectKey(parsingDetached: encoding)
        } catch {
            throw StoreError(.corrupt, "an object's key cannot be read", underlying: error)
        }
    }
}
