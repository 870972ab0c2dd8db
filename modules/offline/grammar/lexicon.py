"""The English that the grammar knows: small words, irregular forms, words that steer, and synonyms."""

from __future__ import annotations

from fractions import Fraction


def word_set(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(text.split())


SMALL_WORDS = word_set("a an the of for with to in on at from about by s")
"""Words that never tell one name from another."""

FILLERS = SMALL_WORDS | word_set(
    """i we you he she it they them his her its their our my your us him this that these those there
    is are was were be been being am do does did doing has have had having will would can could
    should may might must what which who whom whose when where why how many much as so then also
    please tell me show find give list get got know according table data look answer question
    information shown given listed recorded number amount row entry rows entries
    take takes took taken use uses used cast come comes came
    here all any some such into onto out during while exactly word column"""
)
"""Words that may stay unread: they ask, point or join, and change no answer."""

STEERING = word_set(
    """not no never nor neither none without except excluding including besides other another else only
    just unless if and or per each every than but versus vs both either together combined altogether same
    before after since until till between among above below over under within up down off ago
    more less fewer most least top bottom next previous prior double triple twice once half quarter
    first last second third fourth fifth sixth seventh eighth ninth tenth
    average mean median mode total sum difference ratio percent percentage fraction proportion share
    probability likely chance different distinct unique increase decrease change growth drop fall
    rate times range today yesterday tomorrow now currently approximately nearly almost
    highest lowest largest smallest biggest longest shortest best worst greatest maximum minimum"""
)
"""Words that change an answer: a reading that leaves one of them unread is no reading."""

_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty
"""
_ORDERING = "first second third fourth fifth sixth seventh eighth ninth tenth"
NUMBER_WORDS = {word: Fraction(value) for value, word in enumerate(_COUNTING.split())}
ORDINALS = {word: place for place, word in enumerate(_ORDERING.split(), 1)}
ORDINALS |= {"1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5}
FRACTION_WORDS = {"half": Fraction(1, 2), "quarter": Fraction(1, 4)}
TIMES_WORDS = {"once": 1, "twice": 2, "thrice": 3}

_FORMS = """
sell: sold sale sales seller selling
spend: spent spending
buy: bought buying purchase purchased purchases purchasing
run: ran running runs
swim: swam swimming swum swims
drive: drove driven driving
eat: ate eaten eating consume consumed consumption consuming
write: wrote written writing
give: gave given
win: won winning wins
lose: lost losing loss losses
draw: drew drawn draws drawing drawings
make: made making makes
go: went gone going goes
see: saw seen seeing
speak: spoke spoken speaking speaks
hire: hired hires hiring
fall: fell fallen falls falling
take: took taken taking
ride: rode ridden riding rides rider riders
wear: wore worn
teach: taught teaching teacher
catch: caught
pay: paid payment payments
begin: began begun begins beginning start starts started starting
end: ended ends ending finish finishes finished finishing
live: lives lived living
leave: left leaves leaving
foot: feet
man: men
woman: women
child: children kid kids
person: people persons
mouse: mice
tooth: teeth
loaf: loaves
shelf: shelves
scarf: scarves
knife: knives
fly: flew flown flying
arrive: arrival arrivals arrived arriving arrives
depart: departure departures departed departing departs
donate: donation donations donated donating donates donor
vote: votes voted voting voter voters
age: aged ages
actual: actually
weigh: weight weights weighed weighing weighs
high: height heights
long: length lengths
produce: production produced produces producing
grow: growth grew grown
pound: lb lbs pounds
kilogram: kg kgs kilograms kilo
ounce: oz ounces
kilometer: km kilometers kilometre kilometres
meter: meters metre metres
attend: attendance attended attending attendee attendees
visit: visited visits visiting visitor visitors
employ: employee employees employed employer
member: membership members
lead: led
build: built building buildings
bring: brought
minute: min mins minutes
hour: hr hrs hours
second: sec secs seconds
tuesday: tues tue
wednesday: wed
thursday: thurs thu
monday: mon
friday: fri
saturday: sat
january: jan
february: feb
march: mar
june: jun
july: jul
april: apr
august: aug
september: sept sep
october: oct
november: nov
december: dec
bus: buses
dish: dishes
class: classes
less: lesser
quarter: quarters
up: ups
ski: skis
ad: ads
add: adds added adding
atlas: atlases
send: sent sending sends
rehearse: rehearsal rehearsals rehearsed rehearsing
perform: performance performances performer performers performed performing performs
prefer: preferred prefers preference preferences
favorite: favourite favorites favourites
color: colour colors colours
"""
IRREGULAR = {
    form: line.split(":")[0]
    for line in _FORMS.strip().splitlines()
    for form in (line.split(":")[0], *line.split(":")[1].split())
}

_IDEAS = """
price cost fare fee charge : expensive cheap costly pricey cost charge price fare fee
age : old young age
height elevation tall : tall high short height
length distance duration : long short length
pages : long short thick
years months weeks days hours minutes seconds miles kilometers meters blocks : long short
time duration minutes hours seconds : long short fast slow quick time
speed mph : fast slow quick speed
weight mass kilograms pounds : heavy light weigh
size area : large big small size
temperature : hot cold warm cool
salary wage income pay earnings : earn pay salary wage income
population : populous populated inhabitants population
votes : popular voted prefer
distance miles kilometers meters blocks : far further furthest farther farthest near close distant
quantity qty : unit piece
score points : score scored
rating stars : rated
amount total spent cost expense expenses expenditure actual : spend spending
revenue income earnings takings : earn bring
received : earn make receive
rain rainfall precipitation : rain rainfall
wind gust : strong
"""
IDEAS = tuple(
    (word_set(line.split(" : ")[0]), word_set(line.split(" : ")[1])) for line in _IDEAS.strip().splitlines()
)
"""(words in a column's name, words of a question that point to such a column)."""

SYNONYMS = tuple(
    word_set(line)
    for line in """
donate raise contribute receive money fund
cost charge price fare fee
earn income salary wage pay
visit attend go trip
prefer favorite vote popular choose pick like
person student member respondent people
budget expense spend cost
temperature degree degrees
score scores point points
height tall
population people inhabitant
open begin
close end
sell buy make
team player
""".strip().splitlines()
)
"""Words that may stand for each other in the topic of a table, never between columns."""

_IMPLIED = """
won lost drawn played wins losses draws : game games match matches
goals points : score scored scores
order : place placed
age : years old people person
year : released made produced published built held
city country location town region state place lake zoo island village : live lives lived from come
department team : work works
price cost salary revenue fare fee income amount budget expenses received spent funds : money
miles kilometers meters : distance
minutes hours seconds : time
pounds kilograms : weight
men women boys girls males females adults children parents teachers students : people person
boys girls : students student children child kids
magazines books newspapers albums comics : copies
math maths science english history geography physics chemistry biology art : score scores scored marks points
"""
IMPLIED = tuple(
    (word_set(line.split(" : ")[0]), word_set(line.split(" : ")[1])) for line in _IMPLIED.strip().splitlines()
)
"""(words in a column's name, words that go without saying where such a column is read)."""

PARTICULAR = word_set(
    """
    longest shortest tallest oldest youngest heaviest lightest cheapest priciest hottest warmest coldest
    coolest closest nearest farthest furthest deepest widest richest poorest
    longer shorter taller older younger heavier lighter cheaper costlier hotter warmer colder cooler closer
    nearer farther further deeper wider richer poorer strongest weakest
    """
)
"""Words that compare one kind of quantity only, unlike "largest" and "more"."""

NEGATIONS = word_set("not except excluding without besides isn't aren't wasn't weren't")

_DAYS = "monday tuesday wednesday thursday friday saturday sunday"
_YEAR = "january february march april may june july august september october november december"
WEEKDAYS, MONTHS = tuple(_DAYS.split()), tuple(_YEAR.split())
TOTAL_LABELS = word_set("total totals sum overall all average mean subtotal") | {"grand total", "sub total"}
