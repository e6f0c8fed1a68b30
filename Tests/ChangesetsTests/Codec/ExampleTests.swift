import Changesets
import TestSupport
import Testing

/// Worked examples in both directions; docs/changesets.md, "Examples", has some of them.
@Suite struct ExampleTests {
    @Test func theExamplesReadAsTheyAreExplained() throws {
        for example in Self.examples {
            try expectEqual(Changeset(parsing: hex(example.hex)), example.changeset, "\(example.name)")
        }
    }

    @Test func theExamplesAreWrittenAsTheyStand() throws {
        for example in Self.examples {
            expectEqual(example.changeset.encoded(), hex(example.hex), "\(example.name)")
        }
    }

    @Test func oneTransactionHasTwoForms() throws {
        let streaming = hex(
            """
            3F 00 03 46 6F 6F 3F 01 02 69 64 00 00 00 01 01 00 3F 02 04 6E 61 6D 65 3F 03 00 06 00 02 03 01 00
            02 00 01 01 04 00 01 01 02 00 03 02 41 6C 00
            """)
        let normalized = hex(
            """
            3F 00 03 46 6F 6F 3F 01 02 69 64 3F 02 04 6E 61 6D 65 3F 03 00 00 00 00 01 01 00 06 00 02 03 01 00
            02 00 01 01 04 00 01 01 02 00 03 02 41 6C 00
            """)
        let changeset = try Changeset(parsing: streaming)
        expectEqual(changeset.encoded(), normalized)
        try expectEqual(Changeset(parsing: normalized), changeset)
        var encoder = StreamingEncoder()
        for instruction in changeset.instructions {
            try encoder.append(instruction, from: changeset.strings)
        }
        expectEqual(encoder.bytes, streaming)
    }

    @Test func theOwnerClassIsInternedBeforeAFieldOfAnEmbeddedObject() throws {
        let bytes = hex(
            """
            3F 00 03 456D62 3F 01 04 4974656D 3F 02 03 656D62 3F 03 04 6E616D65
            04 01 01 02 02 01 40 03 03 05 616C706861 00
            """)
        let changeset = try Changeset(parsing: bytes)
        var encoder = StreamingEncoder()
        for instruction in changeset.instructions {
            try encoder.append(instruction, from: changeset.strings, owner: "Emb")
        }
        expectEqual(encoder.bytes, bytes)
    }

    @Test func withoutInstructionsNothingIsWritten() throws {
        let changeset = try Changeset(parsing: hex("3F 00 01 61"))
        expectEqual(changeset.strings.strings, ["a"])
        expectTrue(changeset.encoded().isEmpty)
        try expectTrue(Changeset(parsing: []).encoded().isEmpty)
    }

    @Test func stringsDifferByTheirBytes() throws {
        // "é" as one scalar and as two.
        let changeset = try Changeset(parsing: hex("3F 00 02 C3A9 3F 01 03 65CC81"))
        expectEqual(changeset.strings.count, 2)
    }

    @Test func detachedKeysRoundTrip() throws {
        let keys: [ObjectKey] = [
            .null, .int(-65), .string("schlüssel"), .globalKey(high: 2, low: 5),
            .objectID(ObjectIDValue(high: 0x0102_0304_0506_0708, low: 0x090A_0B0C)), .uuid(UUIDValue(high: 1, low: 2)),
        ]
        for key in keys {
            try expectEqual(ObjectKey(parsingDetached: key.detachedEncoding()), key)
            #expect(throws: ChangesetError.self) { try ObjectKey(parsingDetached: key.detachedEncoding() + [0]) }
        }
        expectEqual(ObjectKey.string("ab").detachedEncoding(), hex("03 02 61 62"))
    }
}
