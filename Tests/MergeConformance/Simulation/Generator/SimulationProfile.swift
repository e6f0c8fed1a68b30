/// What a simulated realm is made of, and what its clients do to it.
package struct SimulationProfile: Sendable {
    package let name: String
    package let summary: String
    package let setup: [Edit]
    /// Whether the profile's changes converge only among peers that share the convergent rules.
    package var needsOwnPeers = false
    /// Objects of a class have keys 0 or 1 up to this.
    var keys = 3
    /// Out of a hundred edits of an object, how many erase it.
    var erasures = 4
    /// Out of a hundred edits, how many are of the schema.
    var schemaEdits = 0
    var erasesSchema = false
    /// Whether sets and mixed values hold numbers that are equal but not the same.
    var hasTwins = false
    /// How deep collections in mixed values go.
    var depth = 3

    init(_ name: String, _ summary: String, setup: String) {
        self.name = name
        self.summary = summary
        self.setup = setup.split(separator: "\n").compactMap { line in
            try? Edit(parsing: line.trimmingPrefix { $0 == " " })
        }
    }

    package static func named(_ name: String) -> SimulationProfile? { all.first { $0.name == name } }

    package static let all: [SimulationProfile] = [
        .rich, .lists, .sets, .dictionaries, .mixed, .embedded, .embeddedDictionaries, .objects, .counters, .schema,
        .erasedSchema, .twins,
    ]
}

extension SimulationProfile {
    private static let richSetup = """
        table A int
        table B string?
        table C oid
        table D uuid
        embedded E
        column E/v int
        column E/l int list
        column E/m mixed
        column E/inner link? E
        column E/to link? B
        column A/i int
        column A/n int?
        column A/b bool
        column A/s string?
        column A/bin binary
        column A/t time?
        column A/f float
        column A/d double?
        column A/dec decimal
        column A/o oid?
        column A/u uuid
        column A/any mixed
        column A/l int list
        column A/ls string? list
        column A/lm mixed list
        column A/ll link B list
        column A/si int set
        column A/ss string? set
        column A/sm mixed set
        column A/sl link B set
        column A/di int dictionary
        column A/dm mixed dictionary
        column A/dl link? B dictionary
        column A/to link? B
        column A/e link? E
        column A/le link E list
        column B/back link? A
        column B/n int?
        column B/l link C list
        column C/any mixed
        column C/up link? A
        column D/l string list
        column D/e link? E
        create A/1
        create A/2
        create B/0
        create B/1
        create C/1
        """

    static let rich = SimulationProfile(
        "rich", "every type of value, collection and key at once", setup: richSetup)

    static let lists = make("lists", "one list of three, and one of links", keys: 1) {
        """
        table A int
        table B int
        column A/l int list
        column A/ll link B list
        create A/1
        create B/1
        insert A/1/l/0 int(1)
        insert A/1/l/1 int(2)
        insert A/1/l/2 int(3)
        """
    }

    static let sets = make("sets", "sets of integers, strings, links and mixed values", keys: 2) {
        """
        table A int
        table B string
        column A/si int set
        column A/ss string? set
        column A/sm mixed set
        column A/sl link B set
        create A/1
        create B/1
        include A/1/si int(1)
        """
    }

    static let dictionaries = make("dictionaries", "dictionaries of integers, links and mixed values", keys: 2) {
        """
        table A int
        table B int
        column A/di int? dictionary
        column A/dm mixed dictionary
        column A/dl link? B dictionary
        create A/1
        create B/1
        set A/1/di/a int(1)
        """
    }

    static let mixed = make("mixed", "collections inside mixed values", keys: 1) {
        """
        table A int
        column A/any mixed
        column A/lm mixed list
        column A/dm mixed dictionary
        create A/1
        """
    }

    static let embedded = make("embedded", "embedded objects in fields and lists, and in each other", keys: 1) {
        """
        table A int
        embedded E
        column E/v int
        column E/l int list
        column E/inner link? E
        column E/le link E list
        column A/e link? E
        column A/le link E list
        create A/1
        """
    }

    static let embeddedDictionaries = {
        var profile = make("embedded-dictionaries", "embedded objects in dictionaries (D4)", keys: 1) {
            """
            table A int
            embedded E
            column E/v int
            column E/l int list
            column E/de link? E dictionary
            column A/de link? E dictionary
            create A/1
            """
        }
        profile.needsOwnPeers = true
        return profile
    }()

    static let objects = {
        var profile = make("objects", "objects that come and go, and links to them", keys: 2) {
            """
            table A int
            table B string
            column A/n int?
            column A/l int list
            column A/to link? B
            column A/ll link B list
            column A/sl link B set
            column B/back link? A
            column B/any mixed
            create A/1
            create B/1
            """
        }
        profile.erasures = 30
        return profile
    }()

    static let counters = make("counters", "integers that are set, added to, made null and defaulted", keys: 2) {
        """
        table A int
        column A/n int?
        column A/i int
        column A/any mixed
        create A/1
        """
    }

    static let schema = {
        var profile = SimulationProfile(
            "schema", "classes and fields that are added while they are used", setup: "table A int\ncreate A/1")
        profile.schemaEdits = 25
        return profile
    }()

    static let erasedSchema = {
        var profile = SimulationProfile(
            "erased-schema", "classes and fields that are added and erased while they are used",
            setup: "table A int\ncreate A/1")
        profile.schemaEdits = 25
        profile.erasesSchema = true
        return profile
    }()

    static let twins = {
        var profile = make("twins", "sets of numbers that are equal but not the same, such as 1 and 1.0", keys: 1) {
            """
            table A int
            column A/sd double set
            column A/sc decimal set
            column A/sm mixed set
            create A/1
            """
        }
        profile.hasTwins = true
        profile.needsOwnPeers = true
        return profile
    }()

    private static func make(
        _ name: String, _ summary: String, keys: Int, _ setup: () -> String
    ) -> SimulationProfile {
        var profile = SimulationProfile(name, summary, setup: setup())
        profile.keys = keys
        return profile
    }
}
