import Logging
import TestSupport
import Testing

@testable import PostgreSQL

@Suite struct ConfigurationTests {
    @Test func aURLNamesServersDatabaseAndUser() throws {
        let one = try PostgresConfiguration("postgres://sluice:secret@db1/cluster")
        expectEqual(one.description, "sluice@db1:5432/cluster")
        let several = try PostgresConfiguration(
            "postgresql://sluice:secret@db1:6001,db2:6002/cluster?target_session_attrs=any")
        expectEqual(several.hosts, ["db1:6001", "db2:6002"])
        expectEqual(several.place, "db1:6001,db2:6002/cluster")
        try expectEqual(
            PostgresConfiguration("host=db1,db2 port=7000 dbname=c user=u").hosts, ["db1:7000", "db2:7000"])
        try expectEqual(PostgresConfiguration("postgres:///cluster").place, "local/cluster")
    }

    /// Several hosts are a primary and its standbys: the one that takes writes is meant, unless the operator says otherwise.
    @Test func ofSeveralServersTheOneThatTakesWritesIsMeant() throws {
        func asks(_ url: String) throws -> Bool {
            try PostgresConfiguration(url).parameters.contains { $0.name == "target_session_attrs" }
        }
        try expectTrue(!asks("postgres://db1/c"))
        try expectTrue(asks("postgres://db1,db2/c"))
        // What comes before the connection string is only a default.
        let names = try PostgresConfiguration("postgres://db1,db2/c").parameters.map(\.name)
        expectTrue(names.firstIndex(of: "target_session_attrs")! < names.firstIndex(of: "dbname")!)
    }

    @Test(
        arguments: [
            "postgres://u:se/cret@db/c", "postgres://u:se@cret@db/c", "postgres://u:secret@db:port/c",
            "postgres://u:secret@[db/c", "host=db password='secret", "postgres://u:secret@db/c?nonsense=secret",
            "secret",
        ])
    func aWrongURLIsRefusedWithoutQuotingIt(_ url: String) {
        let error = #expect(throws: PostgresError.self) { try PostgresConfiguration(url) }
        expectEqual(error?.kind, .invalidURL)
        for part in ["secret", "cret", "se/"] { expectEqual(error.map { !"\($0)".contains(part) }, true) }
    }

    @Test func aPasswordIsNeverPrinted() throws {
        let configuration = try PostgresConfiguration("postgres://sluice:secret@db1/cluster?sslmode=require")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            expectTrue(!text.contains("secret"))
        }
    }

    @Test func codesOfTheServerAreTold() {
        func kind(_ state: String) -> PostgresError.Kind { PostgresError.Kind(sqlState: state) }
        expectEqual(kind("40001"), .conflict)
        expectEqual(kind("40P01"), .conflict)
        expectEqual(kind("08006"), .lost)
        expectEqual(kind("57P01"), .lost)
        expectEqual(kind("57P03"), .unreachable)
        expectEqual(kind("25006"), .readOnly)
        expectEqual(kind("3F000"), .undefinedTable)
        expectEqual(kind("42501"), .notPermitted)
        expectEqual(kind("XX000"), .other)
        expectTrue(PostgresError(.conflict, "").isRetriable)
        expectTrue(!PostgresError(.denied, "").isRetriable)
    }
}
