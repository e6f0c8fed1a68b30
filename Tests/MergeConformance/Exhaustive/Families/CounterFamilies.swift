extension ExhaustiveFamily {
    private static let steps = """
        set A/1/n int(1#)
        set A/1/n null
        add A/1/n 1#
        """

    private static let made = Start("table A int; column A/n int?; create A/1; set A/1/n int(5)", steps)
    private static let empty = Start("table A int; column A/n int?; create A/1", steps)

    /// A schema's default is written where the object is made, and nowhere else.
    private static let absent = Start(
        "table A int; column A/n int?",
        """
        create A/1
        create A/1; default A/1/n int(1#)
        create A/1; default A/1/n null
        create A/1; set A/1/n int(2#)
        create A/1; default A/1/n int(1#); add A/1/n 3#
        create A/1; set A/1/n int(2#); add A/1/n 3#
        create A/1; default A/1/n int(1#); set A/1/n null
        create A/1; default A/1/n int(1#) | set A/1/n int(4#) | add A/1/n 3#
        """)

    static let counters = {
        var family = ExhaustiveFamily(
            "counters", "an integer that is set, added to, made null and defaulted, up to two steps each",
            [made.sequences(upTo: 2), empty.sequences(upTo: 2), absent])
        family.isOrderIndependent = true
        return family
    }()

    static let counterPairs = ExhaustiveFamily(
        "counter-pairs", "two clients, up to three steps each on one integer", clients: 2,
        [made.sequences(upTo: 3), empty.sequences(upTo: 3), absent])
}
