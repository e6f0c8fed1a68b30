package import PostgreSQL

/// Strings as PostgreSQL takes them: its text has no character U+0000, and clients may send one. It is written as two others,
/// of which the first never stands for itself.
enum PostgresText {
    private static let mark: Unicode.Scalar = "\u{FFFE}"
    /// What the mark begins with in UTF-8; few texts have it at all.
    private static let firstByte: UInt8 = 0xEF

    static func stored(_ text: String) -> String {
        guard text.utf8.contains(where: { $0 == 0 || $0 == firstByte }) else { return text }
        var stored = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\0": stored.append(contentsOf: [mark, "0"])
            case mark: stored.append(contentsOf: [mark, "m"])
            default: stored.append(scalar)
            }
        }
        return String(stored)
    }

    static func read(_ stored: String) -> String {
        guard stored.utf8.contains(firstByte) else { return stored }
        var text = String.UnicodeScalarView()
        var scalars = stored.unicodeScalars.makeIterator()
        while let scalar = scalars.next() {
            guard scalar == mark else {
                text.append(scalar)
                continue
            }
            text.append(scalars.next() == "0" ? "\0" : mark)
        }
        return String(text)
    }
}

extension PostgresValue {
    /// A text whose characters may be any.
    package static func string(_ text: String?) -> PostgresValue { .text(text.map(PostgresText.stored)) }
    package static func strings(_ texts: [String]) -> PostgresValue { .texts(texts.map(PostgresText.stored)) }
    package static func optionalStrings(_ texts: [String?]) -> PostgresValue {
        .optionalTexts(texts.map { $0.map(PostgresText.stored) })
    }
}

extension PostgresRow {
    package func string(_ column: Int) -> String { PostgresText.read(text(column)) }
    package func optionalString(_ column: Int) -> String? { isNull(column) ? nil : string(column) }
}
