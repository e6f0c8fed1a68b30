extension ExhaustiveFamily {
    private static let classes = """
        table A int; table B int; column A/n int?; column A/l int list; column A/any mixed
        column B/to link? A; column B/ll link A list; column B/sl link A set; column B/m mixed; create B/1

        """

    private static let present = Start(
        classes + "create A/1; set A/1/n int(1); insert A/1/l/0 int(1); set B/1/to link(A/1)",
        """
        erase A/1
        erase A/1; create A/1; set A/1/n int(1#)
        erase A/1 | create A/1
        set A/1/n int(2#)
        add A/1/n 1#
        insert A/1/l/0 int(1#)
        clear A/1/l
        set A/1/any list; insert A/1/any/0 int(1#)
        set B/1/to link(A/1)
        set B/1/to null
        insert B/1/ll/0 link(A/1)
        include B/1/sl link(A/1)
        set B/1/m link(A/1)
        erase B/1
        """)

    private static let absent = Start(
        classes,
        """
        create A/1
        create A/1; set A/1/n int(1#)
        create A/1; default A/1/n int(2#)
        create A/1; insert A/1/l/0 int(1#)
        create A/1; set A/1/n int(3#) | erase A/1
        create A/1 | erase A/1 | create A/1; set A/1/n int(4#)
        create A/1; set B/1/to link(A/1)
        create A/1; insert B/1/ll/0 link(A/1)
        create B/2; erase B/1
        """)

    static let objects = ExhaustiveFamily(
        "objects", "objects that are made and erased against everything done to them and links to them",
        [present, absent])

    static let objectPairs = ExhaustiveFamily(
        "object-pairs", "two clients, two operations each on an object and links to it", clients: 2,
        [present.sequences(upTo: 2), absent.sequences(upTo: 2)])
}
