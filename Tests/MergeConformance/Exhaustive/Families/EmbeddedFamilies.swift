extension ExhaustiveFamily {
    private static let classes = """
        table A int; embedded E; column E/v int; column E/l int list; column E/inner link? E
        column A/e link? E; column A/le link E list; create A/1

        """

    static let embeddedObjects = ExhaustiveFamily(
        "embedded", "an embedded object in a field or a list: made, replaced, removed and edited",
        [
            Start(
                classes,
                """
                set A/1/e object
                set A/1/e object; set A/1/e/v int(1#)
                set A/1/e object; insert A/1/e/l/0 int(1#)
                set A/1/e object | set A/1/e null
                """),
            Start(
                classes + "set A/1/e object; set A/1/e/v int(1); insert A/1/e/l/0 int(1)",
                """
                set A/1/e null
                set A/1/e object
                set A/1/e object; set A/1/e/v int(1#)
                set A/1/e/v int(2#)
                add A/1/e/v 1#
                insert A/1/e/l/0 int(1#)
                remove A/1/e/l/0
                clear A/1/e/l
                set A/1/e/inner object; set A/1/e/inner/v int(1#)
                """),
            Start(
                classes + """
                    insert A/1/le/0 object; insert A/1/le/1 object; insert A/1/le/2 object
                    set A/1/le/1/v int(1); insert A/1/le/1/l/0 int(1)
                    """,
                """
                insert A/1/le/0 object; set A/1/le/0/v int(1#)
                insert A/1/le/1 object
                remove A/1/le/1
                remove A/1/le/0
                move A/1/le/1 0
                move A/1/le/0 2
                set A/1/le/1 object; set A/1/le/1/v int(2#)
                set A/1/le/1/v int(3#)
                add A/1/le/1/v 1#
                insert A/1/le/1/l/0 int(4#)
                clear A/1/le
                """),
        ])

    static let embeddedPairs = ExhaustiveFamily(
        "embedded-pairs", "two clients, two operations each on an embedded object", clients: 2,
        embeddedObjects.starts.map { $0.sequences(upTo: 2) })

    /// D4: with the recorder of stock clients this diverges whenever one key gets an object twice.
    static let embeddedDictionaries = {
        let classes = """
            table A int; embedded E; column E/v int; column E/l int list; column A/de link? E dictionary; create A/1

            """
        var family = ExhaustiveFamily(
            "embedded-dictionaries", "embedded objects in a dictionary (D4)",
            [
                Start(
                    classes,
                    """
                    set A/1/de/a object
                    set A/1/de/a object; set A/1/de/a/v int(1#)
                    set A/1/de/a object; insert A/1/de/a/l/0 int(1#)
                    set A/1/de/a object | drop A/1/de/a
                    set A/1/de/a null
                    set A/1/de/b object
                    """),
                Start(
                    classes + "set A/1/de/a object; set A/1/de/a/v int(1); insert A/1/de/a/l/0 int(1)",
                    """
                    set A/1/de/a object
                    set A/1/de/a object; set A/1/de/a/v int(1#)
                    set A/1/de/a object; insert A/1/de/a/l/0 int(1#)
                    set A/1/de/a/v int(2#)
                    insert A/1/de/a/l/0 int(3#)
                    remove A/1/de/a/l/0
                    drop A/1/de/a
                    set A/1/de/a null
                    clear A/1/de
                    """),
            ])
        family.needsOwnPeers = true
        return family
    }()
}
