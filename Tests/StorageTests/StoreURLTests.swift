import Storage
import Testing

@Suite struct StoreURLTests {
    @Test func aFolderMayBeWrittenWithAndWithoutSlashes() throws {
        #expect(try StoreURL("sqlite:data") == .sqlite(folder: "data"))
        #expect(try StoreURL("sqlite:/var/lib/sluice") == .sqlite(folder: "/var/lib/sluice"))
        #expect(try StoreURL("sqlite:///var/lib/sluice") == .sqlite(folder: "/var/lib/sluice"))
        #expect(try StoreURL("sqlite::memory:") == .sqliteInMemory)
        #expect(try StoreURL("sqlite::memory:").folder == nil)
    }

    @Test(arguments: ["", "sqlite", "sqlite:", "sqlite://", "postgres://user:hunter2@db/sluice", "hunter2"])
    func otherURLsAreRefusedWithoutQuotingThem(_ url: String) {
        let error = #expect(throws: StoreError.self) { try StoreURL(url) }
        #expect(error?.code == .invalidURL)
        #expect(error?.description.contains("hunter2") == false)
    }
}
