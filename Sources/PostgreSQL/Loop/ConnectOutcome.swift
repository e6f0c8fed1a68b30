import CPostgreSQL
import Glibc
import Loops

/// What became of an attempt to connect.
///
/// Sendable though it holds libpq's connection: only one thread has it at any time.
struct ConnectOutcome: @unchecked Sendable {
    let result: Result<OpaquePointer, PostgresError>

    /// Connects as the configuration says, and makes the connection ready. Blocks: libpq looks up names, and goes through all
    /// hosts.
    init(_ configuration: PostgresConfiguration) {
        let parameters = configuration.parameters
        let connection: OpaquePointer? = Self.withCStrings(parameters.map(\.name)) { names in
            Self.withCStrings(parameters.map(\.value)) { values in PQconnectdbParams(names, values, 1) }
        }
        guard let connection else {
            result = .failure(PostgresError(.unreachable, "libpq has no memory for a connection"))
            return
        }
        do throws(PostgresError) {
            try Self.prepare(connection, configuration)
            result = .success(connection)
        } catch {
            PQfinish(connection)
            result = .failure(error)
        }
    }

    /// Closes the connection that nobody has taken over.
    func drop() {
        if case .success(let connection) = result { PQfinish(connection) }
    }

    private static func prepare(
        _ connection: OpaquePointer, _ configuration: PostgresConfiguration
    ) throws(PostgresError) {
        // By default libpq writes the server's notices to the standard error.
        _ = PQsetNoticeProcessor(connection, { _, _ in }, nil)
        guard PQstatus(connection) == CONNECTION_OK else {
            throw refusal(PQerrorMessage(connection).map { String(cString: $0) } ?? "", configuration)
        }
        guard PQserverVersion(connection) >= 140_000 else {
            throw PostgresError(
                .unsupported,
                "the server at \(configuration.place) is PostgreSQL \(PQserverVersion(connection) / 10_000); expected 14 or newer"
            )
        }
        var settings = "SET statement_timeout = \(configuration.timeout.milliseconds); SET lock_timeout = 0"
        if let path = configuration.searchPath {
            settings += "; SET search_path = \"\(path.replacing("\"", with: "\"\""))\""
        }
        if !configuration.serverSettings.isEmpty {
            let values = configuration.serverSettings.map { "('\($0.key)', '\($0.value)')" }.joined(separator: ", ")
            settings += """
                ; SELECT set_config(known.name, wanted.value, false) FROM pg_settings known
                JOIN (VALUES \(values)) AS wanted (name, value) ON known.name = wanted.name
                """
        }
        let answer = PQexec(connection, settings)
        defer { PQclear(answer) }
        guard [PGRES_COMMAND_OK, PGRES_TUPLES_OK].contains(PQresultStatus(answer)) else {
            throw PostgresError(serverResult: answer, statement: nil)
        }
        guard PQsetnonblocking(connection, 1) == 0, PQenterPipelineMode(connection) == 1 else {
            throw PostgresError(.lost, "the connection to \(configuration.place) cannot be used in pipeline mode")
        }
    }

    /// What libpq says of a connection that was not made: it tells no codes then, only words.
    private static func refusal(_ words: String, _ configuration: PostgresConfiguration) -> PostgresError {
        let reasons = words.split(whereSeparator: \.isNewline).map { $0.trimming }.filter { !$0.isEmpty }
        let said = reasons.joined(separator: "; ")
        let refusals = [
            "authentication failed", "no password supplied", "no pg_hba.conf entry", "pg_hba.conf rejects",
            "is not permitted to log in", "permission denied for database", "does not exist", "certificate",
        ]
        // A socket's folder that is missing is "No such file or directory".
        if refusals.contains(where: said.contains) {
            return PostgresError(.denied, "\(configuration.place) refuses the connection: \(said)")
        }
        if said.contains("session is read-only") {
            return PostgresError(.readOnly, "no server at \(configuration.place) takes writes: \(said)")
        }
        return PostgresError(.unreachable, "\(configuration.place) cannot be reached: \(said)")
    }

    /// An array of C strings that ends with a null pointer, as libpq wants it.
    private static func withCStrings<Value>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let copies = strings.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var pointers = copies.map { UnsafePointer($0) }
        pointers.append(nil)
        return pointers.withUnsafeBufferPointer { buffer in
            // Not empty: it has the null pointer at least.
            withExtendedLifetime(copies) { body(buffer.baseAddress.unsafelyUnwrapped) }
        }
    }
}

extension PostgresError {
    /// What a result of libpq's says went wrong; its detail, which may quote a row, is left out.
    init(serverResult: OpaquePointer?, statement: Int?) {
        func field(_ code: Int32) -> String? { PQresultErrorField(serverResult, code).map { String(cString: $0) } }
        let sqlState = field(postgres_shim_field_sqlstate)
        // Without a code it is libpq that speaks, of the connection.
        let words =
            field(postgres_shim_field_message)
            ?? PQresultErrorMessage(serverResult).map { String(cString: $0).trimming } ?? ""
        self.init(
            sqlState.map(Kind.init(sqlState:)) ?? .lost, words.isEmpty ? "the connection was lost" : words,
            sqlState: sqlState, statement: statement, constraint: field(postgres_shim_field_constraint))
    }
}

extension StringProtocol {
    fileprivate var trimming: String {
        let rest = drop { $0.isWhitespace }
        return String(rest.reversed().drop { $0.isWhitespace }.reversed())
    }
}
