import ArgumentParser
import Changesets
import Documents
import ExtendedJSON
import Foundation
import SyncModel

struct ChangesetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "changeset",
        abstract: "Turn instructions in JSON into changesets, and changesets into JSON.",
        discussion: """
            A changeset is an array of instructions (docs/changesets.md, "As JSON"):

              sluice changeset encode '[{"op": "CreateObject", "class": "Dog", "key": 7}]'
              sluice changeset decode 3f0003446f670200000107
              sluice realms export --app tasks --realm nw --history |
                  jq -r '.changeset // empty' | sluice changeset decode --file -

            What documents can say is easier to write with `sluice documents` and `sluice publish write`.
            """,
        subcommands: [ChangesetEncode.self, ChangesetDecode.self])
}

/// Where the texts of changesets come from.
struct ChangesetInput: ParsableArguments {
    @Option(name: .shortAndLong, help: "Read changesets, one a line; - is standard input.") var file: String?
    @Argument(help: "A changeset; repeat it for several.") var changesets: [String] = []

    func validate() throws {
        guard changesets.isEmpty == (file != nil) else { throw ValidationError("give changesets, or --file") }
    }

    /// Reads each changeset, with its place for errors.
    func forEach(_ body: (String, String) throws -> Void) async throws {
        guard let file else {
            for (index, text) in changesets.enumerated() {
                try body(text, changesets.count == 1 ? "the changeset" : "changeset \(index + 1)")
            }
            return
        }
        var lines = try EventLines(file: file)
        while let line = try await lines.next() { try body(line.text, "line \(line.number)") }
    }
}

struct ChangesetEncode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "encode", abstract: "Print changesets in hexadecimal, one a line, for arrays of instructions.")
    @OptionGroup var input: ChangesetInput

    func run() async throws {
        try await input.forEach { text, place in
            Printing.line(HexBytes(try ChangesetText.bytes(ofJSON: text, in: place)).hex)
        }
    }
}

struct ChangesetDecode: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode", abstract: "Print changesets as arrays of instructions, one a line.")
    @OptionGroup var input: ChangesetInput
    @Flag(help: "Print each instruction on a line of its own.") var lines = false

    func run() async throws {
        try await input.forEach { text, place in
            let instructions = try ChangesetText.instructions(ofHex: text, in: place).map {
                ExtendedJSONWriter.text(of: .document($0))
            }
            Printing.line(
                lines ? instructions.joined(separator: "\n") : "[\(instructions.joined(separator: ","))]")
        }
    }
}

/// Changesets as they are typed.
enum ChangesetText {
    /// - Parameter place: where the text was given.
    /// - Throws: `badInput`, with the place of the instruction that is wrong.
    static func bytes(ofJSON text: String, in place: String) throws -> [UInt8] {
        do {
            let value = try ExtendedJSONParser.parse(Array(text.utf8))
            guard let instructions = value.array else {
                throw CommandFailure(
                    .badInput, "\(place): expected an array of instructions, came \(value.typeName)")
            }
            return try bytes(of: instructions, in: place)
        } catch let error as ExtendedJSONError {
            throw CommandFailure(.badInput, "\(place): \(error)")
        }
    }

    static func bytes(of instructions: [BSONValue], in place: String) throws -> [UInt8] {
        do {
            let bytes = try ChangesetDocument.changeset(instructions).encoded()
            // What no worker could read is not to go on its way.
            _ = try Changeset(parsing: bytes)
            return bytes
        } catch let error as DocumentError {
            throw CommandFailure(.badInput, "\(place): \(error)")
        } catch let error as ChangesetError {
            throw CommandFailure(.badInput, "\(place): the instructions are no changeset: \(error)")
        }
    }

    static func instructions(ofHex text: String, in place: String) throws -> [BSONDocument] {
        guard let bytes = HexBytes(hex: text) else {
            throw CommandFailure(
                .badInput, "\(place): expected an even number of hexadecimal digits, got \"\(text.prefix(24))\"")
        }
        do {
            return try ChangesetDocument.instructions(of: Changeset(parsing: bytes.bytes))
        } catch let error as DocumentError {
            throw CommandFailure(.badInput, "\(place): \(error)")
        } catch let error as ChangesetError {
            throw CommandFailure(.badInput, "\(place): the bytes are no changeset: \(error)")
        }
    }
}
