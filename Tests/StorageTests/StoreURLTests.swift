import Storage
import TestSupport
import Testing

@Suite struct StoreURLTests {
    @Test func aFolderMayBeWrittenWithAndWithoutSlashes() throws {
        try expectEqual(StoreURL("sqlite:data"), .sqlite(folder: "data"))
        try expectEqual(StoreURL("sqlite:/var/lib/sluice"), .sqlite(folder: "/var/lib/sluice"))
        try expectEqual(StoreURL("sqlite:///var/lib/sluice"), .sqlite(folder: "/var/lib/sluice"))
        try expectEqual(StoreURL("sqlite::memory:"), .sqliteInMemory)
        try expectTrue(StoreURL("sqlite::memory:").folder == nil)
    }

    @Test func aDatabaseMayNameTheClustersSchema() throws {
        try expectEqual(StoreURL("postgres://u@a,b/db"), .postgres(connection: "postgres://u@a,b/db", schema: "sluice"))
        try expectEqual(
            StoreURL("postgresql://u@a/db?sslmode=require&schema=blue&connect_timeout=3"),
            .postgres(connection: "postgresql://u@a/db?sslmode=require&connect_timeout=3", schema: "blue"))
        try expectEqual(
            StoreURL("postgres://u@a/db?schema=b_1"), .postgres(connection: "postgres://u@a/db", schema: "b_1"))
        try expectTrue(StoreURL("postgres://u@a/db").folder == nil)
    }

    @Test(arguments: [
        "", "sqlite", "sqlite:", "sqlite://", "mysql://user:hunter2@db/sluice", "hunter2",
        "postgres://user:hunter2@db/sluice?schema=Blue", "postgres://user:hunter2@db/sluice?schema=",
        "postgres://user:hunter2@db/sluice?schema=pg_x", "postgres://user:hunter2@db/sluice?schema=a&schema=b",
    ])
    func otherURLsAreRefusedWithoutQuotingThem(_ url: String) {
        let error = #expect(throws: StoreError.self) { try StoreURL(url) }
        expectEqual(error?.code, .invalidURL)
        expectEqual(error?.description.contains("hunter2"), false)
    }
}
