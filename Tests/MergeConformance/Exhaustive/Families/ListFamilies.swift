extension ExhaustiveFamily {
    private static let list = """
        table A int; column A/l int list; create A/1
        insert A/1/l/0 int(1); insert A/1/l/1 int(2); insert A/1/l/2 int(3)
        """

    /// The class of cases that MongoDB generated for this very algorithm: 3 clients, a list of 3, one operation each.
    static let lists = ExhaustiveFamily(
        "lists", "a list of three: insert, set, erase and move anywhere, and clear",
        [
            Start(
                list,
                """
                insert A/1/l/0 int(1#)
                insert A/1/l/1 int(1#)
                insert A/1/l/2 int(1#)
                insert A/1/l/3 int(1#)
                set A/1/l/0 int(2#)
                set A/1/l/1 int(2#)
                set A/1/l/2 int(2#)
                remove A/1/l/0
                remove A/1/l/1
                remove A/1/l/2
                move A/1/l/0 1
                move A/1/l/0 2
                move A/1/l/1 0
                move A/1/l/1 2
                move A/1/l/2 0
                move A/1/l/2 1
                clear A/1/l
                """)
        ])

    static let listPairs = ExhaustiveFamily(
        "list-pairs", "two clients, two operations each on a list of three", clients: 2,
        [lists.starts[0].sequences(upTo: 2)])
}
