import Foundation
import TestSupport
import Testing

@testable import DeviceSync

/// Encrypted files that somebody has changed: an error that names the file, or what was there, and never anything else.
@Suite(.hangGuard)
struct DamagedEncryptedFileTests {
    private let folder = Folder()
    private let original: Data
    private let titles: [String: String?]

    init() throws {
        let source = Folder()
        let realm = try Realm(configuration: source.encrypted)
        try realm.writeMarkedObjects()
        titles = realm.titles()
        try realm.writeCopy(configuration: folder.encrypted)
        original = try Data(contentsOf: folder.file)
    }

    private var pages: Int { original.count / PageCipher.pageSize }

    private func contents() throws -> [String: String?] {
        let core = try RealmCore(
            location: .file(folder.file), isSynced: false, readOnly: true, key: EncryptionKey(PlainText.key))
        let realm = Realm(instance: RealmInstance(core: core, configuration: folder.encrypted, session: nil))
        return try ReadFailures.collecting {
            // All objects are read, the large ones too.
            for object in realm.dynamicObjects("Task") { _ = (object["names"] as? DynamicMap)?["a"] }
            return realm.titles()
        }
    }

    /// - Returns: whether the damage was noticed.
    private func isNoticed(_ damaged: Data) throws -> Bool {
        RealmFileSet.deleteDatabase(folder.file)
        try damaged.write(to: folder.file)
        do {
            try expectEqual(contents(), titles)
            return false
        } catch let error as Realm.Error {
            expectEqual(error.code, .invalidDatabase)
            expectTrue(error.fileURL == folder.file && error.message.contains(folder.file.path))
            return true
        }
    }

    @Test func theFileIsReadAsItWas() throws {
        try expectTrue(!isNoticed(original))
        expectTrue(pages > 20)
    }

    @Test func aChangedBitIsNoticedInEveryPageThatIsRead() throws {
        var unnoticed: [Int] = []
        for page in 0..<pages {
            var damaged = original
            damaged[page * PageCipher.pageSize + (page * 37) % PageCipher.pageSize] ^= 1 << (page % 8)
            if try !isNoticed(damaged) { unnoticed.append(page) }
        }
        // Pages of tables that nobody has looked at.
        expectTrue(unnoticed.count < pages / 2)
        expectTrue(!unnoticed.contains(0))
    }

    @Test func everyByteOfTheFirstPageCounts() throws {
        for position in stride(from: 0, to: PageCipher.pageSize, by: 127) {
            var damaged = original
            damaged[position] ^= 1
            let isNoticed = try isNoticed(damaged)
            expectTrue(isNoticed, "byte \(position)")
        }
    }

    @Test func pagesThatWereSwappedAreNoticed() throws {
        let size = PageCipher.pageSize
        func page(_ number: Int) -> Range<Int> { number * size..<(number + 1) * size }
        let read = try (1..<pages).filter { number in
            var emptied = original
            emptied.resetBytes(in: page(number))
            return try isNoticed(emptied)
        }
        expectTrue(read.count > pages / 2)
        for (one, other) in zip(read, read.dropFirst()) {
            var damaged = original
            damaged.replaceSubrange(page(one), with: original[page(other)])
            damaged.replaceSubrange(page(other), with: original[page(one)])
            let isNoticed = try isNoticed(damaged)
            expectTrue(isNoticed, "pages \(one) and \(other)")
        }
    }

    @Test func pagesOfAnotherFileWithTheSameKeyAreNoticed() throws {
        let other = Folder()
        let realm = try Realm(configuration: folder.encrypted)
        try realm.writeCopy(configuration: other.encrypted)
        let foreign = try Data(contentsOf: other.file)
        let first = original.prefix(PageCipher.pageSize)
        try #require(foreign.count == original.count)
        let isNoticed = try isNoticed(first + foreign.dropFirst(PageCipher.pageSize))
        expectTrue(isNoticed)
    }

    @Test func aFileThatWasCutIsNoticed() throws {
        for length in [
            100, PageCipher.pageSize, PageCipher.pageSize * 3, original.count - PageCipher.pageSize, original.count - 1,
        ] {
            let isNoticed = try isNoticed(original.prefix(length))
            expectTrue(isNoticed, "cut to \(length)")
        }
    }
}
