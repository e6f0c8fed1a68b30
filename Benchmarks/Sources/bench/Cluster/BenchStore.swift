import ArgumentParser

/// Where a measured cluster keeps its data.
enum BenchStore: Hashable, Sendable, ExpressibleByArgument {
    case sqlite
    /// PostgreSQL, with as many milliseconds added to the way to the database, and to the way back.
    case postgres(delay: Int)

    /// `sqlite`, `postgres`, or `postgres+1ms`.
    init?(argument: String) {
        if argument == "sqlite" {
            self = .sqlite
        } else if argument == "postgres" {
            self = .postgres(delay: 0)
        } else if argument.hasPrefix("postgres+"), argument.hasSuffix("ms"),
            let delay = Int(argument.dropFirst("postgres+".count).dropLast(2)), (1...1000).contains(delay)
        {
            self = .postgres(delay: delay)
        } else {
            return nil
        }
    }

    var name: String {
        switch self {
        case .sqlite: "sqlite"
        case .postgres(0): "postgres"
        case .postgres(let delay): "postgres+\(delay)ms"
        }
    }
}
