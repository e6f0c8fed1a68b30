/// Collections in mixed values, two levels deep.
extension ExhaustiveFamily {
    private static let any = "table A int; column A/any mixed; create A/1"

    /// What can be done to any value.
    private static let assignments = """
        set A/1/any null
        set A/1/any int(1#)
        set A/1/any list
        set A/1/any dictionary
        set A/1/any list; insert A/1/any/0 int(2#)
        set A/1/any dictionary; set A/1/any/a int(2#)

        """

    private static let inList = """
        clear A/1/any
        insert A/1/any/0 int(1#)
        insert A/1/any/2 list
        remove A/1/any/0
        remove A/1/any/1
        move A/1/any/0 1
        set A/1/any/0 int(1#)
        set A/1/any/0 list; insert A/1/any/0/0 int(3#)
        set A/1/any/0 dictionary

        """

    private static let inDictionary = """
        clear A/1/any
        set A/1/any/a int(1#)
        set A/1/any/a list; insert A/1/any/a/0 int(3#)
        set A/1/any/a dictionary
        set A/1/any/b int(1#)
        drop A/1/any/a

        """

    static let mixedValues = ExhaustiveFamily(
        "mixed", "collections in a mixed value, two levels deep, that change their kind under each other",
        [
            Start(any, assignments + "add A/1/any 1#"),
            Start(any + "; set A/1/any int(5)", assignments + "add A/1/any 1#"),
            Start(any + "; set A/1/any list; insert A/1/any/0 int(1); insert A/1/any/1 int(2)", assignments + inList),
            Start(any + "; set A/1/any dictionary; set A/1/any/a int(1)", assignments + inDictionary),
            Start(
                any
                    + "; set A/1/any list; insert A/1/any/0 list; insert A/1/any/0/0 int(1)"
                    + "; insert A/1/any/1 dictionary; set A/1/any/1/a int(1)",
                inList + """
                    insert A/1/any/0/0 int(4#)
                    remove A/1/any/0/0
                    clear A/1/any/0
                    set A/1/any/1/a int(4#)
                    drop A/1/any/1/a
                    clear A/1/any/1
                    """),
            Start(
                any
                    + "; set A/1/any dictionary; set A/1/any/a list; insert A/1/any/a/0 int(1)"
                    + "; set A/1/any/b dictionary; set A/1/any/b/a int(1)",
                inDictionary + """
                    insert A/1/any/a/0 int(4#)
                    remove A/1/any/a/0
                    clear A/1/any/a
                    set A/1/any/b/a int(4#)
                    drop A/1/any/b
                    drop A/1/any/b/a
                    clear A/1/any/b
                    """),
        ])

    static let mixedPairs = ExhaustiveFamily(
        "mixed-pairs", "two clients, two operations each in a mixed value", clients: 2,
        mixedValues.starts.map { $0.sequences(upTo: 2) })
}
