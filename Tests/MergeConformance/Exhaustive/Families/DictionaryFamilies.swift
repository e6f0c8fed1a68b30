extension ExhaustiveFamily {
    private static let dictionary = """
        table A int; column A/d int? dictionary; create A/1; set A/1/d/a int(1); set A/1/d/b int(2)
        """

    static let dictionaries = {
        var family = ExhaustiveFamily(
            "dictionaries", "a dictionary: insert, replace and erase keys, and clear",
            [
                Start(
                    dictionary,
                    """
                    set A/1/d/a int(1#)
                    set A/1/d/a null
                    set A/1/d/b int(1#)
                    set A/1/d/c int(1#)
                    drop A/1/d/a
                    drop A/1/d/b
                    drop A/1/d/a; set A/1/d/a int(2#)
                    set A/1/d/c int(1#); drop A/1/d/c
                    clear A/1/d
                    clear A/1/d; set A/1/d/a int(3#)
                    """)
            ])
        family.isOrderIndependent = true
        return family
    }()

    static let dictionaryPairs = ExhaustiveFamily(
        "dictionary-pairs", "two clients, up to three operations each on a dictionary", clients: 2,
        [
            Start(
                dictionary,
                """
                set A/1/d/a int(1#)
                set A/1/d/c int(2#)
                drop A/1/d/a
                drop A/1/d/c
                clear A/1/d
                """
            ).sequences(upTo: 3)
        ])
}
