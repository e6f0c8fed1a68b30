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

    @Test func aDatabaseMayNameTheClustersSchema() throws {
        #expect(try StoreURL("postgres://u@a,b/db") == .postgres(connection: "postgres://u@a,b/db", schema: "sluice"))
        #expect(
            try StoreURL("postgresql://u@a/db?sslmode=require&schema=blue&connect_timeout=3")
                == .postgres(connection: "postgresql://u@a/db?sslmode=require&connect_timeout=3", schema: "blue"))
        #expect(
            try StoreURL("postgres://u@a/db?schema=b_1") == .postgres(connection: "postgres://u@a/db", schema: "b_1"))
        #expect(try StoreURL("postgres://u@a/db").folder == nil)
    }

    @Test(arguments: [
        "", "sqlite", "sqlite:", "sqlite://", "mysql://user:hunter2@db/sluice", "hunter2",
        "postgres://user:hunter2@db/sluice?schema=Blue", "postgres://user:hunter2@db/sluice?schema=",
        "postgres://user:hunter2@db/sluice?schema=pg_x", "postgres://user:hunter2@db/sluice?schema=a&schema=b",
    ])
    func otherURLsAreRefusedWithoutQuotingThem(_ url: String) {
        let error = #expect(throws: StoreError.self) { try StoreURL(url) }
        #expect(error?.code == .invalidURL)
        #expect(error?.description.contains("hunter2") == false)
    }
}
