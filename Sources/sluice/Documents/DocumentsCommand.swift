import AdminAPI
import ArgumentParser
import Changesets
import ExtendedJSON
import SyncModel

struct DocumentsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "documents",
        abstract: "Read and write an app's objects as Extended JSON.",
        discussion: """
            The realm is --partition of an app in partition mode; an app in flexible mode has one. Values keep the \
            types of the app's schema: {"$oid": "..."} and the like stand for what JSON has no type for \
            (docs/documents.md).

              sluice documents insert --app tasks --partition nw Task '{"_id": 7}'
              sluice documents find   --app tasks --partition nw Task \\
                  --filter '{"done": false}' --limit 10
              sluice documents count  --app tasks --all-partitions Task
              sluice documents update --app tasks --partition nw Task 7 \\
                  --apply '{"$inc": {"count": 1}}'
              sluice documents delete --app tasks --partition nw Task 7

            What is written merges with what devices have done offline, as if another device had written it.
            """,
        subcommands: [
            DocumentsGet.self, DocumentsFind.self, DocumentsCount.self, DocumentsDistinct.self,
            DocumentsAggregate.self, DocumentsExplain.self, DocumentsInsert.self, DocumentsPut.self,
            DocumentsUpdate.self, DocumentsDelete.self, DocumentsWrite.self, DocumentsImport.self,
            DocumentsExport.self,
        ])
}

/// The realm and the class that a command is about.
struct DocumentClassOptions: ParsableArguments {
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(help: "The partition value: a word, or extended JSON such as {\"$oid\":\"...\"}.") var partition: String?
    @Argument(help: "The class of the objects.") var className: String

    /// The query that names the realm and the class.
    var query: [(AdminQuery, String?)] { [(.partition, partition), (.className, className)] }
}

/// The class that a search is about, in one realm or in several.
struct DocumentRealmsOptions: ParsableArguments {
    @Option(help: "The app.", completion: .apps) var app: String
    @Option(
        help: "The partition value: a word, or extended JSON such as {\"$oid\":\"...\"}. May be repeated.")
    var partition: [String] = []
    @Flag(help: "Search all partitions of the app.") var allPartitions = false
    @Argument(help: "The class of the objects.") var className: String

    func validate() throws {
        if allPartitions, !partition.isEmpty {
            throw ValidationError("--all-partitions: expected no --partition beside it")
        }
    }

    /// Whether realms are searched one after the other.
    var isOfSeveral: Bool { allPartitions || partition.count > 1 }

    /// The query that names the realms and the class.
    var query: [(AdminQuery, String?)] {
        partition.map { (.partition, $0) } + [(.className, className)]
    }

    /// The query of a search that comes to one answer.
    var answerQuery: [(AdminQuery, String?)] { query + [(.allPartitions, allPartitions ? "true" : nil)] }
}

/// How documents are printed.
struct DocumentOutputOptions: ParsableArguments {
    @Flag(help: "Print values with their types: canonical Extended JSON.") var canonical = false
}

/// A primary key as it is typed: extended JSON, or else a word, which is a string.
struct DocumentKey: ExpressibleByArgument {
    let value: BSONValue

    init?(argument: String) {
        // A word is no JSON.
        value = (try? ExtendedJSONParser.parse(Array(argument.utf8))) ?? BSONValue(argument)
    }
}

/// A document as it is typed: an object of Extended JSON.
struct DocumentText: ExpressibleByArgument {
    let document: BSONDocument
    let text: String

    init?(argument: String) {
        guard let document = try? ExtendedJSONParser.parseDocument(Array(argument.utf8)) else { return nil }
        self.document = document
        text = argument
    }
}
